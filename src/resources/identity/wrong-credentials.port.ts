/** The connection of a request. `ip` is the address that a trusted proxy reports. */
export type ClientConnection = Readonly<{ ip: string; socket: Readonly<{ remoteAddress?: string | undefined }> }>;

/** Counts a client's wrong credentials. Valid ones are not counted and never refused. */
export abstract class WrongCredentials {
  /** Counts one wrong credential. @throws Rejection too-many-wrong-credentials if the client has exceeded the limit */
  abstract count(client: ClientConnection): Promise<void>;
}
