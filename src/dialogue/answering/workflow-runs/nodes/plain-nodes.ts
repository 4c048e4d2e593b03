import { Injectable } from '@nestjs/common';
import { ExpressionFailed, Expressions } from '../../../../resources/workflows/expressions/expressions.port.js';
import type { NodeConfigOf } from '../../../../resources/workflows/node-config.policy.js';
import { ELSE_HANDLE } from '../../../../resources/workflows/workflow-graph.policy.js';
import type { AnswerDelta } from '../../loop/answer-delta.js';
import { AnswerFailed } from '../../loop/answer-failed.js';
import type { NodeContext } from './node-context.js';
import { NodeTemplates } from './node-templates.js';

/** Runs the nodes that only compute: end, state and condition. */
@Injectable()
export class PlainNodes {
  constructor(
    private readonly expressions: Expressions,
    private readonly templates: NodeTemplates,
  ) {}

  async *end({ outputTemplate }: NodeConfigOf<'end'>, context: NodeContext): AsyncGenerator<AnswerDelta> {
    if (outputTemplate === '') return;
    const { text } = await this.templates.render(outputTemplate, context);
    if (text !== '') yield { type: 'text', text: context.followsText ? `\n\n${text}` : text };
  }

  /** Sets variables. Each operation sees the values that earlier ones have set. @throws AnswerFailed if an expression fails */
  async state({ operations }: NodeConfigOf<'state'>, { state, run, result }: NodeContext): Promise<void> {
    for (const { expression, targetVariable } of operations) {
      const readable = await state.readableBy(expression);
      try {
        result.delta[targetVariable] = await this.expressions.evaluate(expression, { ...readable, ...result.delta }, run.signal);
      } catch (error) {
        if (!(error instanceof ExpressionFailed)) throw error;
        throw new AnswerFailed(
          'expression-failed',
          `The expression of ${targetVariable} could not be evaluated: ${error.message}`,
        );
      }
    }
  }

  /**
   * Chooses the branch of the first case that is true, otherwise the else branch. A case that fails is skipped and recorded as a
   * problem.
   */
  async condition({ cases }: NodeConfigOf<'condition'>, { state, run, result }: NodeContext): Promise<void> {
    result.handle = ELSE_HANDLE;
    for (const { name, expression, sourceHandle } of cases) {
      if (expression === '') continue;
      const isTrue = await this.expressions
        .evaluate(expression, await state.readableBy(expression), run.signal)
        .catch((error) => {
          if (!(error instanceof ExpressionFailed)) throw error;
          result.problems.push(`The case ${JSON.stringify(name || sourceHandle)} could not be evaluated: ${error.message}`);
        });
      if (isTrue === true) {
        result.handle = sourceHandle;
        return;
      }
    }
  }
}
