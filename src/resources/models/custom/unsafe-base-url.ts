import { Rejection } from '../../../kernel/rejection.js';
import { AddressRefused, type OutgoingHttp } from '../../../platform/outgoing/outgoing-http.port.js';

/** Refuses private addresses that the operator does not allow. @throws Rejection invalid-request */
export async function refuseUnsafe(outgoing: OutgoingHttp, baseUrl: string): Promise<void> {
  await outgoing.check(baseUrl).catch((error: unknown) => {
    throw error instanceof AddressRefused ? new Rejection('invalid-request', `base_url: ${error.message}`) : error;
  });
}
