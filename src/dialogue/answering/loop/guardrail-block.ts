import type { GuardrailDecision } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailPolicy, GuardrailStage } from '../../../resources/guardrails/guardrail.policy.js';
import type { StoppedByGuardrail } from '../../conversation/conversation.events.js';

/**
 * A guardrail has stopped the answer. The message is the policy's block message. The error contains no part of the checked text.
 */
export class GuardrailBlock extends Error {
  override readonly name = 'GuardrailBlock';

  constructor(
    message: string,
    readonly stopped: StoppedByGuardrail,
  ) {
    super(message);
  }
}

/** The error for the blocking decisions of a stage. */
export const blockOf = (
  { blockMessage }: Pick<GuardrailPolicy, 'blockMessage'>,
  stage: GuardrailStage,
  decisions: readonly GuardrailDecision[],
): GuardrailBlock => new GuardrailBlock(blockMessage, stoppedBy(stage, decisions));

/** The checks that stopped an answer: those whose action is `block`; if there are none, those that could not be evaluated. */
function stoppedBy(stage: GuardrailStage, decisions: readonly GuardrailDecision[]): StoppedByGuardrail {
  const ofStage = decisions.filter((decision) => decision.stage === stage);
  const blocking = ofStage.filter(({ action }) => action === 'block');
  const stopping = blocking.length > 0 ? blocking : ofStage.filter(({ outcome }) => outcome === 'not_evaluated');
  return {
    stage,
    categories: [...new Set(stopping.flatMap(({ category }) => category ?? []))],
    checks: [...new Set(stopping.map(({ check }) => check))],
  };
}
