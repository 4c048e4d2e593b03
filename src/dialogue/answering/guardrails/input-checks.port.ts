import type { GuardrailPolicy } from '../../../resources/guardrails/guardrail.policy.js';
import type { CheckedInput } from '../../conversation/conversation.events.js';

/** A checked input. `value` is masked and may be stored. If `isBlocked`, no part of the input may be stored. */
export type Given<T> = Readonly<
  { isBlocked: false; value: T; checked?: CheckedInput } | { isBlocked: true; checked: CheckedInput }
>;

/** Checks texts for other features before the append that accepts them. */
export abstract class InputChecks {
  /** The current policy for the `guardrails` of an agent's configuration; undefined if the agent has no guardrails. */
  abstract policyFor(config: unknown): GuardrailPolicy | undefined;
  /**
   * Checks all texts of a JSON value. A check that exceeds its timeout, or `msMax` if that is shorter, counts as not evaluated.
   */
  abstract check<T>(policy: GuardrailPolicy | undefined, value: T, msMax?: number): Promise<Given<T>>;
  /** Checks all texts of a JSON value and returns it masked. @throws Rejection guardrail-blocked */
  abstract required<T>(policy: GuardrailPolicy | undefined, value: T): Promise<T>;
  /**
   * Checks a result that was found for a conversation outside its turns, like a tool result, by the policy of the newest
   * question.
   */
  abstract found<T>(conversationId: string, value: T): Promise<Given<T>>;
}
