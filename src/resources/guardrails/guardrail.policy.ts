/** The points at which text is checked. */
export const GUARDRAIL_STAGES = ['input', 'retrieval', 'tool_result', 'output'] as const;
export type GuardrailStage = (typeof GUARDRAIL_STAGES)[number];

/** From the mildest to the strictest. */
export const GUARDRAIL_ACTIONS = ['flag', 'redact', 'block'] as const;
export type GuardrailAction = (typeof GUARDRAIL_ACTIONS)[number];

export const GUARDRAIL_MODES = ['monitor_only', 'scan_all'] as const;
export type GuardrailMode = (typeof GUARDRAIL_MODES)[number];

export const GUARDRAIL_CHECKS = ['pii', 'secrets', 'denylist', 'url', 'injection', 'groundedness', 'policy'] as const;
export type GuardrailCheck = (typeof GUARDRAIL_CHECKS)[number];

export const PII_ENTITIES = ['EMAIL', 'PHONE', 'US_SSN', 'CREDIT_CARD', 'IPV4', 'IBAN'] as const;
type PiiEntity = (typeof PII_ENTITIES)[number];

/** The settings of each check, named as in an agent's configuration, with defaults filled in. */
export type CheckSettings = Readonly<{
  pii: Readonly<{ entities: readonly PiiEntity[] }>;
  secrets: Readonly<Record<string, never>>;
  denylist: Readonly<{ terms: readonly string[]; match: 'word' | 'substring'; case_sensitive: boolean }>;
  url: Readonly<{ allow_hosts: readonly string[]; block_hosts: readonly string[] }>;
  injection: Readonly<{ min_hits: number }>;
  groundedness: Readonly<{ min_overlap: number; min_words: number; require_retrieval: boolean }>;
  policy: Readonly<{ policy: string; confidence_threshold: number; max_chars: number; model: string | null }>;
}>;

/** One check at one stage, and the action that a match causes. */
export type GuardrailControl = {
  readonly [Check in GuardrailCheck]: Readonly<{
    check: Check;
    stage: GuardrailStage;
    action: GuardrailAction;
    settings: CheckSettings[Check];
  }>;
}[GuardrailCheck];

/**
 * The controls of a turn: the agent's own guardrails merged with the floor of the instance. The turn stores it when it is
 * accepted. Disabled controls are left out, and no two controls have the same check and stage.
 */
export type GuardrailPolicy = Readonly<{
  mode: GuardrailMode;
  /** Whether text passes if a control could not be evaluated. */
  failOpen: boolean;
  /** Maximum time for one stage. */
  timeoutMs: number;
  blockMessage: string;
  controls: readonly GuardrailControl[];
}>;

/** The replacement for a withheld text. */
export const WITHHELD = '[Withheld by a content policy.]';
