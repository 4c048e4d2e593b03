import type { GuardrailPolicy } from '../../../resources/guardrails/guardrail.policy.js';
import type { CheckedInput } from '../../conversation/conversation.events.js';

/** What is given, as it may be stored: masked where that is needed; `isBlocked`: nothing of it may be. */
export type Given<T> = Readonly<
  { isBlocked: false; value: T; checked?: CheckedInput } | { isBlocked: true; checked: CheckedInput }
>;

/** Where other features have texts checked before the append that accepts them. */
export abstract class InputChecks {
  /** What holds for an agent as it is now, by the `guardrails` of its configuration; undefined where nothing is checked. */
  abstract policyFor(config: unknown): GuardrailPolicy | undefined;
  /** All texts of a JSON value. What takes longer than a check may, at most the given time, was not evaluated. */
  abstract check<T>(policy: GuardrailPolicy | undefined, value: T, msMax?: number): Promise<Given<T>>;
  /** All texts of a JSON value, masked where that is needed. @throws Rejection guardrail-blocked */
  abstract required<T>(policy: GuardrailPolicy | undefined, value: T): Promise<T>;
  /** What was found for a conversation outside of its turns, by the policy of its newest question, as a result of a tool is checked. */
  abstract found<T>(conversationId: string, value: T): Promise<Given<T>>;
}
