import type { ClientConnection } from './wrong-credentials.port.js';

/** Counts the codes of pairings that a client tries to redeem, right and wrong ones: a code is short, so that people can type it. */
export abstract class RedeemedCodes {
  /** Counts one. @throws Rejection too-many-requests, once the client has no more of them left */
  abstract count(client: ClientConnection): Promise<void>;
}
