/** Where a request comes from, as its server sees it; `ip` is what a trusted proxy names. */
export type ClientConnection = Readonly<{ ip: string; socket: Readonly<{ remoteAddress?: string | undefined }> }>;

/** Counts the credentials that a client shows and that do not exist. Right ones are not counted and never refused. */
export abstract class WrongCredentials {
  /** Counts one. @throws Rejection too-many-wrong-credentials, once the client has no more of them left */
  abstract count(client: ClientConnection): Promise<void>;
}
