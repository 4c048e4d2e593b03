import type { GuardrailCheck, GuardrailPolicy } from './guardrail.policy.js';

export type GuardrailSettings = Readonly<{
  /** Where it is false nothing is checked, the floor neither. */
  enabled: boolean;
  checks: ReadonlySet<GuardrailCheck>;
  floor: GuardrailPolicy | undefined;
  /** The judge where a control names none; by default the model that answers by default. */
  judgeModelId: string | undefined;
  /** How long decisions are kept. */
  retentionMs: number;
}>;

/** What guardrails need to know of the configuration. */
export class GuardrailOptions {
  constructor(readonly settings: GuardrailSettings) {}
}
