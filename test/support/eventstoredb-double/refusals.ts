import { Metadata, status, type ServiceError } from '@grpc/grpc-js';

import type { Faults } from './faults.js';

/** An error of a whole call, with trailers that tell the client its meaning. */
function refusal(code: status, details: string, trailers: Record<string, string> = {}): Partial<ServiceError> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(trailers)) metadata.set(name, value);
  return { code, details, metadata };
}

export const refusals = {
  unavailable: () => refusal(status.UNAVAILABLE, 'Server Is Not Ready'),
  tooSlow: () => refusal(status.ABORTED, 'Consumer too slow to handle event while live. Client resubscription required.'),
  timeout: () => refusal(status.ABORTED, 'Timeout'),
  accessDenied: () => refusal(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' }),
  /** A read and a subscription are refused with different words. */
  invalidPosition: (isSubscription: boolean) =>
    isSubscription
      ? refusal(status.INVALID_ARGUMENT, 'Trying to read from an invalid position.')
      : refusal(status.UNKNOWN, 'Unexpected FilteredReadAllResult: InvalidPosition'),
  invalid: (details: string) => refusal(status.INVALID_ARGUMENT, details),
  notLeader: ({ leader }: Faults) =>
    refusal(status.NOT_FOUND, 'Leader info available', {
      exception: 'not-leader',
      'leader-endpoint-host': leader?.host ?? '127.0.0.1',
      'leader-endpoint-port': String(leader?.port ?? 2113),
    }),
  streamDeleted: (stream: string) =>
    refusal(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
      exception: 'stream-deleted',
      'stream-name': stream,
    }),
  wrongExpectedVersion: (stream: string, expected: number, current: number | undefined) =>
    refusal(status.FAILED_PRECONDITION, 'Append failed due to WrongExpectedVersion.', {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      ...(current === undefined ? {} : { 'actual-version': String(current) }),
    }),
  tooLarge: (bytes: number) =>
    refusal(status.INVALID_ARGUMENT, 'Maximum Append Size Exceeded', {
      exception: 'maximum-append-size-exceeded',
      'maximum-append-size': String(bytes),
    }),
};

/** The reason to refuse a call before it is processed, if there is one. */
export function refusedAtOnce(faults: Faults, metadata: Metadata): Partial<ServiceError> | undefined {
  if (faults.unavailable) return refusals.unavailable();
  if (faults.refuse) return refusals.accessDenied();
  if (faults.leader && metadata.get('requires-leader')[0] === 'true') return refusals.notLeader(faults);
  return undefined;
}
