export type ExpressionFailure = 'invalid' | 'failed' | 'out-of-time' | 'too-large' | 'busy';

/**
 * An expression has no value: it does not compile (`invalid`), fails with this state (`failed`), or exceeds a limit. The message
 * is for the expression's author and contains nothing of the state.
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

/** Evaluates expressions of users in the Common Expression Language (CEL). An expression cannot block or crash the service. */
export abstract class Expressions {
  /**
   * The value of an expression for a state, as JSON. Integers of the state become `int` and null becomes false; results become
   * JSON numbers.
   * @throws ExpressionFailed, or the signal's reason
   */
  abstract evaluate(expression: string, state: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<unknown>;
  /** The problem of each expression, in the same order; undefined if it compiles. @throws ExpressionFailed busy, out-of-time */
  abstract compile(expressions: readonly string[]): Promise<readonly (string | undefined)[]>;
}
