/** The connection of a request. `ip` is the address that a trusted proxy reports. */
export type ClientConnection = Readonly<{ ip: string; socket: Readonly<{ remoteAddress?: string | undefined }> }>;

/** Counts a client's wrong credentials. Valid ones are not counted and never refused. */
export abstract class WrongCredentials {
  /** Counts one wrong credential. @throws Rejection too-many-wrong-credentials if the client has exceeded the limit */
  abstract count(client: ClientConnection): Promise<void>;
}

/** Counts the pairing codes that a client tries, right and wrong. Codes are short enough to type, so guessing must be limited. */
export abstract class RedeemedCodes {
  /** Counts one code. @throws Rejection too-many-requests if the client has exceeded the limit */
  abstract count(client: ClientConnection): Promise<void>;
}
