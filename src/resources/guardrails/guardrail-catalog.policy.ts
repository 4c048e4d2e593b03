import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_STAGES,
  type GuardrailAction,
  type GuardrailCheck,
  type GuardrailStage,
} from './guardrail.policy.js';

/** What the catalog shows of a check. */
export type CheckDescription = Readonly<{
  label: string;
  description: string;
  stages: readonly GuardrailStage[];
  /** Whether the check returns the positions of its matches, so that they can be masked. */
  redacts: boolean;
  /** `spans`: finds positions while the text arrives; `complete`: needs the whole text; `remote`: asks a model. */
  kind: 'spans' | 'complete' | 'remote';
  latencyHintMs: number;
}>;

const EVERYWHERE = GUARDRAIL_STAGES;

export const CHECK_CATALOG: Readonly<Record<GuardrailCheck, CheckDescription>> = {
  pii: {
    label: 'Personal data',
    description:
      'Finds e-mail addresses, phone numbers, social security numbers, card numbers, IP addresses and account numbers.',
    stages: EVERYWHERE,
    redacts: true,
    kind: 'spans',
    latencyHintMs: 1,
  },
  secrets: {
    label: 'Secrets',
    description: 'Finds API keys, access tokens, private keys and passwords in addresses.',
    stages: EVERYWHERE,
    redacts: true,
    kind: 'spans',
    latencyHintMs: 1,
  },
  denylist: {
    label: 'Denylist',
    description: 'Finds words and phrases that you list.',
    stages: EVERYWHERE,
    redacts: true,
    kind: 'spans',
    latencyHintMs: 1,
  },
  url: {
    label: 'Links',
    description: 'Finds links to hosts that you block or do not allow.',
    stages: EVERYWHERE,
    redacts: true,
    kind: 'spans',
    latencyHintMs: 1,
  },
  injection: {
    label: 'Prompt injection',
    description: 'Finds phrases that try to give the model orders.',
    stages: ['input', 'retrieval', 'tool_result'],
    redacts: false,
    kind: 'spans',
    latencyHintMs: 1,
  },
  groundedness: {
    label: 'Groundedness',
    description: 'Compares the words of an answer with those of the documents that were retrieved for it.',
    stages: ['output'],
    redacts: false,
    kind: 'complete',
    latencyHintMs: 5,
  },
  policy: {
    label: 'Policy',
    description: 'A model judges whether a text breaks a policy in your own words.',
    stages: EVERYWHERE,
    redacts: false,
    kind: 'remote',
    latencyHintMs: 800,
  },
};

export const actionsOf = (check: GuardrailCheck): readonly GuardrailAction[] =>
  GUARDRAIL_ACTIONS.filter((action) => action !== 'redact' || CHECK_CATALOG[check].redacts);
