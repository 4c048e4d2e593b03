import type { GuardrailDecision } from '../../../resources/guardrails/guardrail-decisions.policy.js';
import type { GuardrailPolicy, GuardrailStage } from '../../../resources/guardrails/guardrail.policy.js';
import type { StoppedByGuardrail } from '../../conversation/conversation.events.js';

/** A guardrail stops the answer. The message is the policy's block message; neither it nor the facts hold anything of the text. */
export class GuardrailBlock extends Error {
  override readonly name = 'GuardrailBlock';

  constructor(
    message: string,
    readonly stopped: StoppedByGuardrail,
  ) {
    super(message);
  }
}

/** The block that follows from the decisions of a stage. */
export const blockOf = (
  { blockMessage }: Pick<GuardrailPolicy, 'blockMessage'>,
  stage: GuardrailStage,
  decisions: readonly GuardrailDecision[],
): GuardrailBlock => new GuardrailBlock(blockMessage, stoppedBy(stage, decisions));

/** Which checks stopped an answer: those whose action is `block`, or that a policy does not let pass unevaluated. */
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
