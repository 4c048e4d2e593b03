import fc from 'fast-check';
import { GUARDRAIL_CHECKS, GUARDRAIL_STAGES } from '../../src/resources/guardrails/guardrail.policy.js';

/** The beginning of every message. The path of the field follows. */
export const GUARDRAILS_INVALID = 'Invalid config: one or more guardrail controls failed validation. config.guardrails';

const pii = { check: 'pii', stage: 'input' };
const control = (more: object) => ({ enabled: true, controls: [pii, { ...pii, stage: 'output', ...more }] });
const withSettings = (check: string, settings: unknown) => control({ check, settings });
const IN_SECOND = '.controls[1]';

/** Configurations that are refused, with the end of the message. */
export const BAD_GUARDRAILS: readonly (readonly [string, unknown, string])[] = [
  ['that is not an object', [], ' must be an object.'],
  ['with an unknown field', { on: true }, '.on is not known.'],
  ['with an unknown field of a control', control({ x: 1 }), `${IN_SECOND}.x is not known.`],
  ['with text for enabled', { enabled: 'yes' }, '.enabled must be true or false.'],
  ['with an unknown mode', { mode: 'block' }, '.mode must be one of monitor_only, scan_all.'],
  ['with a number for fail_open', { fail_open: 1 }, '.fail_open must be true or false.'],
  ['with a short time', { timeout_ms: 99 }, '.timeout_ms must be a whole number from 100 to 60000.'],
  ['with a long time', { timeout_ms: 60_001 }, '.timeout_ms must be'],
  ['with a fractional time', { timeout_ms: 200.5 }, '.timeout_ms must be'],
  ['with a long message', { block_message: 'x'.repeat(501) }, '.block_message must be a text of 0 to 500 characters.'],
  ['with controls that are not a list', { controls: {} }, '.controls must be a list of 0 to 50 controls.'],
  ['with 51 controls', { controls: Array.from({ length: 51 }, () => pii) }, '.controls must be a list'],
  ['with a control that is a text', { controls: ['pii'] }, '.controls[0] must be an object.'],
  ['with null for a control', { controls: [null] }, '.controls[0] must be an object.'],
  ['with the same control twice', { controls: [pii, { ...pii, enabled: false }] }, `${IN_SECOND} has the same check and stage`],
  ['with an unknown check', control({ check: 'toxicity' }), `${IN_SECOND}.check must be one of pii, secrets,`],
  ['with an unknown stage', control({ stage: 'prompt' }), `${IN_SECOND}.stage must be one of input, retrieval,`],
  ['without a stage', { controls: [{ check: 'pii' }] }, '.controls[0].stage must be one of'],
  ['with an unknown action', control({ action: 'mask' }), `${IN_SECOND}.action must be one of flag, redact, block.`],
  [
    'with an injection check on answers',
    control({ check: 'injection' }),
    `${IN_SECOND}.stage must be one of input, retrieval, tool_result for`,
  ],
  [
    'with an injection check that masks',
    { controls: [{ check: 'injection', stage: 'input', action: 'redact' }] },
    '.controls[0].action must be one of flag, block for injection.',
  ],
  [
    'with a groundedness check on questions',
    { controls: [{ check: 'groundedness', stage: 'input' }] },
    '.controls[0].stage must be one of output for',
  ],
  ['with settings that are a list', withSettings('pii', []), `${IN_SECOND}.settings must be an object.`],
  ['with an unknown setting', withSettings('secrets', { all: true }), `${IN_SECOND}.settings.all is not known.`],
  ['with an unknown entity', withSettings('pii', { entities: ['EMAIL', 'NAME'] }), `${IN_SECOND}.settings.entities must be`],
  ['with no entity', withSettings('pii', { entities: [] }), `${IN_SECOND}.settings.entities must be`],
  ['with a denylist without terms', withSettings('denylist', {}), `${IN_SECOND}.settings.terms must be a list of 1 to 500 terms`],
  ['with a blank term', withSettings('denylist', { terms: ['a', ' \u200b'] }), `${IN_SECOND}.settings.terms must be`],
  ['with a long term', withSettings('denylist', { terms: ['a'.repeat(129)] }), `${IN_SECOND}.settings.terms must be`],
  ['with 501 terms', withSettings('denylist', { terms: Array(501).fill('a') }), `${IN_SECOND}.settings.terms must be`],
  [
    'with an unknown match mode',
    withSettings('denylist', { terms: ['a'], match: 'regex' }),
    `${IN_SECOND}.settings.match must be`,
  ],
  [
    'with a URL check without hosts',
    withSettings('url', { allow_hosts: [] }),
    `${IN_SECOND}.settings must have allow_hosts or block_hosts.`,
  ],
  [
    'with a host that is an address',
    withSettings('url', { block_hosts: ['https://a.b'] }),
    `${IN_SECOND}.settings.block_hosts must be`,
  ],
  ['with an invalid host', withSettings('url', { block_hosts: ['a b'] }), `${IN_SECOND}.settings.block_hosts must be`],
  [
    'with 0 hits',
    { controls: [{ check: 'injection', stage: 'input', settings: { min_hits: 0 } }] },
    '.controls[0].settings.min_hits must be',
  ],
  [
    'with too much overlap',
    withSettings('groundedness', { min_overlap: 1.1 }),
    `${IN_SECOND}.settings.min_overlap must be a number from 0 to 1.`,
  ],
  ['with no words', withSettings('groundedness', { min_words: 0 }), `${IN_SECOND}.settings.min_words must be`],
  [
    'with a short policy',
    withSettings('policy', { policy: 'Be nice.' }),
    `${IN_SECOND}.settings.policy must be a text of 10 to 2500`,
  ],
  [
    'with an invalid threshold of a judge',
    withSettings('policy', { policy: 'No insults.', confidence_threshold: '1' }),
    `${IN_SECOND}.settings.confidence_threshold must be`,
  ],
  [
    'with too large a context for a judge',
    withSettings('policy', { policy: 'No insults.', max_chars: 100_001 }),
    `${IN_SECOND}.settings.max_chars must be`,
  ],
  [
    'with a number for the judge',
    withSettings('policy', { policy: 'No insults.', model: 4 }),
    `${IN_SECOND}.settings.model must be`,
  ],
  [
    'that is too large',
    {
      controls: GUARDRAIL_STAGES.map((stage) => ({
        check: 'denylist',
        stage,
        settings: { terms: Array(500).fill('a'.repeat(128)) },
      })),
    },
    ' must have at most 131072 characters.',
  ],
];

const key = fc.oneof(
  fc.constantFrom(
    'enabled',
    'mode',
    'controls',
    'check',
    'stage',
    'action',
    'settings',
    'terms',
    'allow_hosts',
    'policy',
    '__proto__',
  ),
  fc.string(),
);
const leaf = fc.oneof(
  fc.constantFrom('pii', 'url', 'policy', 'input', 'output', 'block', 'scan_all', 'EMAIL', true, null, 0, 2000, ''),
  fc.jsonValue(),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 6 }),
  ),
}));

const mostly = (usual: fc.Arbitrary<unknown>, other: fc.Arbitrary<unknown>) => fc.oneof({ arbitrary: usual, weight: 7 }, other);
const setting = fc.constantFrom('entities', 'terms', 'allow_hosts', 'block_hosts', 'min_hits', 'min_words', 'policy', 'model');
/** A control that is often valid. */
const likely = fc.record(
  {
    check: fc.constantFrom(...GUARDRAIL_CHECKS),
    stage: fc.constantFrom(...GUARDRAIL_STAGES),
    action: mostly(fc.constantFrom('flag', 'redact', 'block'), leaf),
    enabled: mostly(fc.boolean(), leaf),
    settings: mostly(fc.dictionary(setting, fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })), { maxKeys: 1 }), leaf),
  },
  { requiredKeys: ['check', 'stage'] },
);
const odd = fc.dictionary(key, value, { maxKeys: 6 });

/** Arbitrary values in place of a configuration. */
export const anyGuardrails = fc.oneof(
  value,
  fc.record({ enabled: value, controls: fc.array(odd, { maxLength: 4 }) }),
  fc.record({ enabled: fc.boolean(), controls: fc.array(mostly(likely, odd), { maxLength: 5 }) }),
);
