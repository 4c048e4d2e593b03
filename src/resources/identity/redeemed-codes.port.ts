import type { ClientConnection } from './wrong-credentials.port.js';

/** Counts the pairing codes that a client tries, right and wrong. Codes are short enough to type, so guessing must be limited. */
export abstract class RedeemedCodes {
  /** Counts one code. @throws Rejection too-many-requests if the client has exceeded the limit */
  abstract count(client: ClientConnection): Promise<void>;
}
