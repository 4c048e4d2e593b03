export type ExpressionFailure = 'invalid' | 'failed' | 'out-of-time' | 'too-large' | 'busy';

/**
 * An expression gave no value: it cannot be compiled (`invalid`), or not with this state (`failed`), or not within its limits.
 * The message is for its author and quotes nothing of the state.
 */
export class ExpressionFailed extends Error {
  override readonly name = 'ExpressionFailed';
  constructor(
    readonly failure: ExpressionFailure,
    message: string,
  ) {
    super(message);
  }
}

/** Evaluates expressions of users in the Common Expression Language: whatever they do, everything else goes on. */
export abstract class Expressions {
  /**
   * The value for a state, as JSON: whole numbers of the state go in as `int`, null as false; results come out as JSON numbers.
   * @throws ExpressionFailed; the signal's reason
   */
  abstract evaluate(expression: string, state: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<unknown>;
  /** What is wrong with each, in the order given; undefined: it compiles. @throws ExpressionFailed busy, out-of-time */
  abstract compile(expressions: readonly string[]): Promise<readonly (string | undefined)[]>;
}
