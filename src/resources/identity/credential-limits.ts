import type { RateLimit } from '../../kernel/rate-limit.js';
import { Rejection } from '../../kernel/rejection.js';
import { clientOf } from './client-address.js';
import { type ClientConnection, WrongCredentials } from './wrong-credentials.port.js';

/** The wrong credentials of a client, within a rate. */
export class LimitedWrongCredentials extends WrongCredentials {
  constructor(private readonly limit: RateLimit) {
    super();
  }

  async count(client: ClientConnection): Promise<void> {
    const waitSeconds = await this.limit.take(clientOf(client));
    if (waitSeconds === undefined) return;
    throw new Rejection('too-many-wrong-credentials', 'Too many wrong credentials', undefined, waitSeconds);
  }
}

/** The session tokens that are generated for a client, within a rate. */
export class GeneratedTokens {
  constructor(private readonly limit: RateLimit) {}

  /** Counts one. @throws Rejection too-many-requests */
  async count(client: ClientConnection): Promise<void> {
    const waitSeconds = await this.limit.take(clientOf(client));
    if (waitSeconds !== undefined) throw new Rejection('too-many-requests', 'Too many new tokens', undefined, waitSeconds);
  }
}

/** The sign-ins that a client begins, within a rate: each is remembered until it is finished or too old. */
export class BegunSignIns {
  constructor(private readonly limit: RateLimit) {}

  /** Counts one. @throws Rejection too-many-requests */
  async count(client: ClientConnection): Promise<void> {
    const waitSeconds = await this.limit.take(clientOf(client));
    if (waitSeconds !== undefined) throw new Rejection('too-many-requests', 'Too many sign-ins', undefined, waitSeconds);
  }
}
