import type { RateLimit } from '../../kernel/messaging/rate-limit.js';
import { Rejection } from '../../kernel/rejection.js';
import { clientOf } from './client-address.js';
import type { RedeemedCodes, ClientConnection, WrongCredentials } from './client-limits.port.js';

/** Limits the rate of an action of each client. */
abstract class LimitedByClient {
  constructor(private readonly limit: RateLimit) {}

  /** Counts one action. @throws the Rejection of `refusal` if the client has exceeded the limit */
  protected async countOne(client: ClientConnection, refusal: (waitSeconds: number) => Rejection): Promise<void> {
    const waitSeconds = await this.limit.take(clientOf(client));
    if (waitSeconds !== undefined) throw refusal(waitSeconds);
  }
}

/** Limits the rate of wrong credentials. */
export class LimitedWrongCredentials extends LimitedByClient implements WrongCredentials {
  /** @throws Rejection too-many-wrong-credentials */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(
      client,
      (seconds) => new Rejection('too-many-wrong-credentials', 'Too many wrong credentials', undefined, seconds),
    );
  }
}

/** Limits the rate of generated session tokens. */
export class GeneratedTokens extends LimitedByClient {
  /** @throws Rejection too-many-requests */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(client, (seconds) => new Rejection('too-many-requests', 'Too many new tokens', undefined, seconds));
  }
}

/** Limits the rate of pairing codes that a client tries. */
export class LimitedRedeemedCodes extends LimitedByClient implements RedeemedCodes {
  /** @throws Rejection too-many-requests */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(client, (seconds) => new Rejection('too-many-requests', 'Too many codes', undefined, seconds));
  }
}

/** Limits the rate of sign-ins that a client starts, because each is stored until it is finished or expires. */
export class BegunSignIns extends LimitedByClient {
  /** @throws Rejection too-many-requests */
  count(client: ClientConnection): Promise<void> {
    return this.countOne(client, (seconds) => new Rejection('too-many-requests', 'Too many sign-ins', undefined, seconds));
  }
}
