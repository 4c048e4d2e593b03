import type { RateLimit } from '../../kernel/rate-limit.js';
import { Rejection } from '../../kernel/rejection.js';
import { clientOf } from './client-address.js';
import type { RedeemedCodes } from './redeemed-codes.port.js';
import type { ClientConnection, WrongCredentials } from './wrong-credentials.port.js';

/** What a client may do, within a rate. */
abstract class LimitedByClient {
  constructor(private readonly limit: RateLimit) {}

  /** Counts one. @throws Rejection, as `refusal` says, once the client has no more of them left */
  protected async countOne(client: ClientConnection, refusal: (waitSeconds: number) => Rejection): Promise<void> {
    const waitSeconds = await this.limit.take(clientOf(client));
    if (waitSeconds !== undefined) throw refusal(waitSeconds);
  }
}

/** The wrong credentials of a client, within a rate. */
export class LimitedWrongCredentials extends LimitedByClient implements WrongCredentials {
  /** @throws Rejection too-many-wrong-credentials */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(
      client,
      (seconds) => new Rejection('too-many-wrong-credentials', 'Too many wrong credentials', undefined, seconds),
    );
  }
}

/** The session tokens that are generated for a client, within a rate. */
export class GeneratedTokens extends LimitedByClient {
  /** @throws Rejection too-many-requests */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(client, (seconds) => new Rejection('too-many-requests', 'Too many new tokens', undefined, seconds));
  }
}

/** The codes of pairings that a client tries to redeem, within a rate. */
export class LimitedRedeemedCodes extends LimitedByClient implements RedeemedCodes {
  /** @throws Rejection too-many-requests */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(client, (seconds) => new Rejection('too-many-requests', 'Too many codes', undefined, seconds));
  }
}

/** The sign-ins that a client begins, within a rate: each is remembered until it is finished or too old. */
export class BegunSignIns extends LimitedByClient {
  /** @throws Rejection too-many-requests */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(client, (seconds) => new Rejection('too-many-requests', 'Too many sign-ins', undefined, seconds));
  }
}
