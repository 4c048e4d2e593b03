import type { RateLimit } from '../../kernel/rate-limit.js';
import { Rejection } from '../../kernel/rejection.js';
import { clientOf } from './client-address.js';
import type { RedeemedCodes } from './redeemed-codes.port.js';
import type { ClientConnection, WrongCredentials } from './wrong-credentials.port.js';

/** What a client may do, within a rate. */
abstract class LimitedByClient {
  protected abstract readonly refusal: readonly [code: string, message: string];

  constructor(private readonly limit: RateLimit) {}

  /** Counts one. @throws Rejection, as `refusal` says, once the client has no more of them left */
  async count(client: ClientConnection): Promise<void> {
    const waitSeconds = await this.limit.take(clientOf(client));
    if (waitSeconds !== undefined) throw new Rejection(...this.refusal, undefined, waitSeconds);
  }
}

/** The wrong credentials of a client, within a rate. */
export class LimitedWrongCredentials extends LimitedByClient implements WrongCredentials {
  protected readonly refusal = ['too-many-wrong-credentials', 'Too many wrong credentials'] as const;
}

/** The session tokens that are generated for a client, within a rate. */
export class GeneratedTokens extends LimitedByClient {
  protected readonly refusal = ['too-many-requests', 'Too many new tokens'] as const;
}

/** The codes of pairings that a client tries to redeem, within a rate. */
export class LimitedRedeemedCodes extends LimitedByClient implements RedeemedCodes {
  protected readonly refusal = ['too-many-requests', 'Too many codes'] as const;
}

/** The sign-ins that a client begins, within a rate: each is remembered until it is finished or too old. */
export class BegunSignIns extends LimitedByClient {
  protected readonly refusal = ['too-many-requests', 'Too many sign-ins'] as const;
}
