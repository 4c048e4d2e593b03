/** The answer failed, and a retry would fail too. The message is for the user; `code` is in kebab-case. */
export class AnswerFailed extends Error {
  override readonly name = 'AnswerFailed';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}
