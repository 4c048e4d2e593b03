import { GuardedProcess, GuardedProcessFailed } from '../../../platform/sandbox/guarded-process.js';
import { Expressions, ExpressionFailed } from './expressions.port.js';
import { EXPRESSION_LIMITS, type ExpressionLimits } from './expression-limits.js';
import { needsTooMuchMemory, tooManyExpressions } from './expression-failures.js';
import type { ExpressionAnswer, ExpressionQuestion } from './expression-threads.js';
import type { ExpressionReply } from './expressions-program.js';

const ENTRY = new URL('./expressions-program.js', import.meta.url);

/**
 * Evaluates expressions in threads of a separate process: V8 ends the whole process if a thread allocates memory faster than its
 * limit can stop it.
 */
export class GuardedExpressions extends Expressions {
  private readonly process: GuardedProcess<ExpressionQuestion, ExpressionReply>;
  private readonly limits: ExpressionLimits;

  constructor(limits: Partial<ExpressionLimits> = {}) {
    super();
    this.limits = { ...EXPRESSION_LIMITS, ...limits };
    this.process = new GuardedProcess({ program: { entry: ENTRY, options: this.limits } });
  }

  async evaluate(expression: string, state: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<unknown> {
    const answer = await this.ask({ expression, state: JSON.stringify(state) }, signal);
    if ('json' in answer) return JSON.parse(answer.json) as unknown;
    if ('invalid' in answer) throw new ExpressionFailed('invalid', `The expression is not valid: ${answer.invalid}`);
    if ('failed' in answer) throw new ExpressionFailed('failed', `The expression failed: ${answer.failed}`);
    const { resultCharactersMax } = this.limits;
    throw new ExpressionFailed('too-large', `The value of the expression has more than ${resultCharactersMax} characters.`);
  }

  async compile(expressions: readonly string[]): Promise<readonly (string | undefined)[]> {
    if (expressions.length === 0) return [];
    const answer = await this.ask({ compile: expressions });
    if ('problems' in answer) return answer.problems.map((problem) => problem ?? undefined);
    throw new Error('The process for expressions gave an answer of the wrong kind.');
  }

  close(): Promise<void> {
    return this.process.close();
  }

  private async ask(question: ExpressionQuestion, signal?: AbortSignal): Promise<ExpressionAnswer> {
    if (this.process.waiting >= this.limits.waitingMax) throw tooManyExpressions();
    const reply = await this.process.ask(question, signal).catch((error: unknown) => {
      throw error instanceof GuardedProcessFailed && error.failure === 'died' ? needsTooMuchMemory() : error;
    });
    if ('failure' in reply) throw new ExpressionFailed(reply.failure, reply.message);
    return reply;
  }
}
