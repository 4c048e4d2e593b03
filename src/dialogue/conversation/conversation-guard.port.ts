import { Rejection } from '../../kernel/rejection.js';
import type { GuardrailPolicy, GuardrailStage } from '../../resources/guardrails/guardrail.policy.js';

/** Checks texts beside the turns of a conversation, by the policy that is pinned in its newest question. */
export abstract class ConversationGuard {
  abstract policyOf(conversationId: string): Promise<GuardrailPolicy | undefined>;
  /** A name as it may be stored. @throws Rejection guardrail-blocked */
  abstract name(conversationId: string, name: string): Promise<string>;
  /** A name as it may be stored; undefined where it is blocked. */
  abstract nameBy(policy: GuardrailPolicy, stage: GuardrailStage, name: string): Promise<string | undefined>;
}

/** A text that is refused as it is given, and of which nothing is stored. */
export const blockedInput = ({ blockMessage }: Pick<GuardrailPolicy, 'blockMessage'>): Rejection =>
  new Rejection('guardrail-blocked', blockMessage, { code: 'guardrail' });
