import type { GuardrailCheck, GuardrailPolicy } from './guardrail.policy.js';

export type GuardrailSettings = Readonly<{
  /** If false, nothing is checked, not even by the floor. */
  enabled: boolean;
  checks: ReadonlySet<GuardrailCheck>;
  floor: GuardrailPolicy | undefined;
  /** The judge of controls that name none. Default: the default model. */
  judgeModelId: string | undefined;
  /** How long decisions are kept. */
  retentionMs: number;
}>;

/** The settings of guardrails, for injection. */
export class GuardrailOptions {
  constructor(readonly settings: GuardrailSettings) {}
}
