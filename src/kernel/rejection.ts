/** A command that the rules refuse. `code` is kebab-case and stable; the `*.rejections.ts` of its room says how it is rendered. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
  constructor(
    readonly code: string,
    message: string,
    /** What the body says beside the text, by the names clients read. */
    readonly details?: Readonly<Record<string, unknown>>,
    /** When it may be worth asking again, where that is known better than for all refusals of the kind. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** A part of the service that a request needs is away. The message is for clients: it names no host and holds no secret. */
export class Unavailable extends Error {}
