/** A refused command. `code` is kebab-case and stable; the `*.rejections.ts` of the room maps it to an HTTP status. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
  constructor(
    readonly code: string,
    message: string,
    /** Further fields of the response body, under their wire names. */
    readonly details?: Readonly<Record<string, unknown>>,
    /** Seconds after which a retry may succeed, if known better than the default of this code. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** For `catch`: ignores a rejection with this code. @throws any other error */
export const unlessRejected =
  (code: string) =>
  (error: unknown): undefined => {
    if (!(error instanceof Rejection) || error.code !== code) throw error;
  };

/** A part of the service that the request needs is unavailable. The message is for clients: it contains no host and no secret. */
export class Unavailable extends Error {}

export const shuttingDown = (): Rejection => new Rejection('shutting-down', 'The service is shutting down. Please try again.');
