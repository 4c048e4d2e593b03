import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Rejection } from '../../kernel/rejection.js';
import { CHECK_CATALOG } from './guardrail-catalog.policy.js';
import { DEFAULT_BLOCK_MESSAGE, judgesIn, readGuardrails, validGuardrails } from './guardrail-config.policy.js';
import { effectivePolicy, floorIn } from './guardrail-floor.policy.js';
import { GUARDRAIL_CHECKS, GUARDRAIL_STAGES } from './guardrail.policy.js';

const ALL = new Set(GUARDRAIL_CHECKS);
const SENTENCE = 'Invalid config: one or more guardrail controls failed validation. config.guardrails';
const pii = { check: 'pii', stage: 'input' };
const control = (more: object) => ({ enabled: true, controls: [pii, { ...pii, stage: 'output', ...more }] });
const withSettings = (check: string, settings: unknown) => control({ check, settings });
const IN_SECOND = '.controls[1]';

describe('a configuration of guardrails', () => {
  const bad: readonly (readonly [string, unknown, string])[] = [
    ['that is no object', [], ' must be an object.'],
    ['with an unknown field', { on: true }, '.on is not known.'],
    ['with an unknown field of a control', control({ x: 1 }), `${IN_SECOND}.x is not known.`],
    ['that is enabled by a text', { enabled: 'yes' }, '.enabled must be true or false.'],
    ['with an unknown mode', { mode: 'block' }, '.mode must be one of monitor_only, scan_all.'],
    ['that fails open by a number', { fail_open: 1 }, '.fail_open must be true or false.'],
    ['with a short time', { timeout_ms: 99 }, '.timeout_ms must be a whole number from 100 to 60000.'],
    ['with a long time', { timeout_ms: 60_001 }, '.timeout_ms must be'],
    ['with a broken time', { timeout_ms: 200.5 }, '.timeout_ms must be'],
    ['with a long message', { block_message: 'x'.repeat(501) }, '.block_message must be a text of 0 to 500 characters.'],
    ['whose controls are no list', { controls: {} }, '.controls must be a list of 0 to 50 controls.'],
    ['with 51 controls', { controls: Array.from({ length: 51 }, () => pii) }, '.controls must be a list'],
    ['with a control that is a text', { controls: ['pii'] }, '.controls[0] must be an object.'],
    ['with null for a control', { controls: [null] }, '.controls[0] must be an object.'],
    ['with the same control twice', { controls: [pii, { ...pii, enabled: false }] }, `${IN_SECOND} has the same check and stage`],
    ['with an unknown check', control({ check: 'toxicity' }), `${IN_SECOND}.check must be one of pii, secrets,`],
    ['with an unknown stage', control({ stage: 'prompt' }), `${IN_SECOND}.stage must be one of input, retrieval,`],
    ['without a stage', { controls: [{ check: 'pii' }] }, '.controls[0].stage must be one of'],
    ['with an unknown action', control({ action: 'mask' }), `${IN_SECOND}.action must be one of flag, redact, block.`],
    [
      'that looks for injections in answers',
      control({ check: 'injection' }),
      `${IN_SECOND}.stage must be one of input, retrieval, tool_result for`,
    ],
    [
      'that masks injections',
      { controls: [{ check: 'injection', stage: 'input', action: 'redact' }] },
      '.controls[0].action must be one of flag, block for injection.',
    ],
    [
      'that grounds questions',
      { controls: [{ check: 'groundedness', stage: 'input' }] },
      '.controls[0].stage must be one of output for',
    ],
    ['with settings that are a list', withSettings('pii', []), `${IN_SECOND}.settings must be an object.`],
    ['with an unknown setting', withSettings('secrets', { all: true }), `${IN_SECOND}.settings.all is not known.`],
    ['with an unknown entity', withSettings('pii', { entities: ['EMAIL', 'NAME'] }), `${IN_SECOND}.settings.entities must be`],
    ['with no entity', withSettings('pii', { entities: [] }), `${IN_SECOND}.settings.entities must be`],
    ['of a denylist without terms', withSettings('denylist', {}), `${IN_SECOND}.settings.terms must be a list of 1 to 500 terms`],
    ['with a blank term', withSettings('denylist', { terms: ['a', ' \u200b'] }), `${IN_SECOND}.settings.terms must be`],
    ['with a long term', withSettings('denylist', { terms: ['a'.repeat(129)] }), `${IN_SECOND}.settings.terms must be`],
    ['with 501 terms', withSettings('denylist', { terms: Array(501).fill('a') }), `${IN_SECOND}.settings.terms must be`],
    [
      'with an unknown way to match',
      withSettings('denylist', { terms: ['a'], match: 'regex' }),
      `${IN_SECOND}.settings.match must be`,
    ],
    [
      'of links without hosts',
      withSettings('url', { allow_hosts: [] }),
      `${IN_SECOND}.settings must have allow_hosts or block_hosts.`,
    ],
    [
      'with a host that is an address',
      withSettings('url', { block_hosts: ['https://a.b'] }),
      `${IN_SECOND}.settings.block_hosts must be`,
    ],
    ['with a host that is none', withSettings('url', { block_hosts: ['a b'] }), `${IN_SECOND}.settings.block_hosts must be`],
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
      'with an unsure judge',
      withSettings('policy', { policy: 'No insults.', confidence_threshold: '1' }),
      `${IN_SECOND}.settings.confidence_threshold must be`,
    ],
    [
      'with a judge who reads too much',
      withSettings('policy', { policy: 'No insults.', max_chars: 100_001 }),
      `${IN_SECOND}.settings.max_chars must be`,
    ],
    [
      'with a judge that is a number',
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
  it.each(bad)('%s is refused by the sentence that clients know, and the field', (_, value, problem) => {
    const refusal = caught(() => validGuardrails(value, ALL));
    expect([refusal.code, refusal.message]).toEqual(['invalid-agent-config', expect.stringContaining(`${SENTENCE}${problem}`)]);
  });

  it('may have every setting at its bounds', () => {
    const value = {
      enabled: true,
      mode: 'scan_all',
      fail_open: false,
      timeout_ms: 60_000,
      block_message: '𝟘'.repeat(500),
      controls: [
        { ...pii, action: 'redact', enabled: false, settings: { entities: ['IBAN', 'EMAIL'] } },
        { check: 'secrets', stage: 'output', action: 'block', settings: {} },
        {
          check: 'denylist',
          stage: 'output',
          settings: { terms: Array(500).fill('a'.repeat(128)), match: 'substring', case_sensitive: true },
        },
        { check: 'url', stage: 'output', settings: { allow_hosts: ['*.example.com', '[::1]', 'bücher.de'], block_hosts: [] } },
        { check: 'injection', stage: 'retrieval', action: 'block', settings: { min_hits: 10 } },
        { check: 'groundedness', stage: 'output', settings: { min_overlap: 0, min_words: 1000, require_retrieval: false } },
        {
          check: 'policy',
          stage: 'input',
          settings: { policy: 'x'.repeat(2500), confidence_threshold: 1, max_chars: 200, model: null },
        },
      ],
    };
    expect(validGuardrails(value, ALL)).toBe(value);
    expect(readGuardrails(value, ALL).config.policy.controls.map(({ check }) => check)).not.toContain('pii');
  });

  it('says nothing is checked where it says nothing', () => {
    expect(readGuardrails({}, ALL)).toEqual({
      config: {
        enabled: false,
        policy: { mode: 'monitor_only', failOpen: true, timeoutMs: 2000, blockMessage: DEFAULT_BLOCK_MESSAGE, controls: [] },
      },
      kept: {},
      problems: [],
    });
  });

  it('fills in what is left out', () => {
    const { config } = readGuardrails(
      { controls: [pii, { check: 'policy', stage: 'output', settings: { policy: 'No insults.' } }] },
      ALL,
    );
    expect(config.policy.controls).toEqual([
      { ...pii, action: 'flag', settings: { entities: ['EMAIL', 'PHONE', 'US_SSN', 'CREDIT_CARD'] } },
      {
        check: 'policy',
        stage: 'output',
        action: 'flag',
        settings: { policy: 'No insults.', confidence_threshold: 0.7, max_chars: 8000, model: null },
      },
    ]);
  });

  it('keeps its valid parts where it comes in a file', () => {
    const value = { enabled: true, mode: 'loud', x: 1, controls: [pii, { check: 'pii' }, { check: 'url', stage: 'input' }, pii] };
    const reading = readGuardrails(value, ALL);
    expect(reading.kept).toEqual({ enabled: true, controls: [pii] });
    expect(reading.problems).toHaveLength(5);
    expect(validGuardrails(reading.kept, ALL)).toBe(reading.kept);
  });

  it('names no check that the instance has switched off', () => {
    expect(caught(() => validGuardrails({ controls: [pii] }, new Set(['secrets'] as const))).message).toBe(
      `${SENTENCE}.controls[0].check must be one of secrets.`,
    );
  });

  it('names its judges', () => {
    const judge = { check: 'policy', stage: 'output', settings: { policy: 'No insults.', model: 'gpt' } };
    expect([judgesIn({ controls: [pii, judge] }), judgesIn(undefined)]).toEqual([['gpt'], []]);
  });

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
  it('is read or refused, whatever it is, and what is kept of it is valid', () => {
    fc.assert(
      fc.property(fc.oneof(value, fc.record({ enabled: value, controls: fc.array(fc.dictionary(key, value)) })), (config) => {
        const { kept, problems } = readGuardrails(config, ALL);
        expect(readGuardrails(kept, ALL)).toMatchObject({ kept, problems: [] });
        if (problems.length === 0) expect(validGuardrails(config, ALL)).toBe(config);
        else expect(caught(() => validGuardrails(config, ALL))).toBeInstanceOf(Rejection);
      }),
      { numRuns: 2000 },
    );
  });

  it('has at most eight checks of a stage that ask a model', () => {
    const remote = GUARDRAIL_CHECKS.filter((check) => CHECK_CATALOG[check].kind === 'remote');
    expect(remote.length).toBeLessThanOrEqual(8);
  });
});

describe('a floor', () => {
  const floor = floorIn(
    JSON.stringify({
      enabled: true,
      timeout_ms: 500,
      block_message: 'No.',
      controls: [
        { check: 'secrets', stage: 'output', action: 'redact' },
        { ...pii, action: 'flag', settings: { entities: ['IBAN'] } },
      ],
    }),
    ALL,
  )!;
  const effective = (config: object) => effectivePolicy(readGuardrails(config, ALL).config, floor);

  it('holds alone for agents without guardrails', () => {
    expect(effective({})).toEqual(floor);
    expect(effective({ mode: 'scan_all', controls: [{ check: 'pii', stage: 'output' }] })).toEqual(floor);
  });

  it('makes nothing milder', () => {
    const own = {
      enabled: true,
      mode: 'scan_all',
      fail_open: false,
      timeout_ms: 300,
      controls: [
        { ...pii, action: 'block' },
        { ...pii, stage: 'output' },
      ],
    };
    expect(effective(own)).toEqual({
      mode: 'scan_all',
      failOpen: false,
      timeoutMs: 500,
      blockMessage: DEFAULT_BLOCK_MESSAGE,
      controls: [
        { check: 'secrets', stage: 'output', action: 'redact', settings: {} },
        { ...pii, action: 'block', settings: { entities: ['IBAN'] } },
        { ...pii, stage: 'output', action: 'flag', settings: { entities: ['EMAIL', 'PHONE', 'US_SSN', 'CREDIT_CARD'] } },
      ],
    });
  });

  it('is none where it is empty', () => {
    expect(floorIn('{}', ALL)).toBeUndefined();
    expect(effectivePolicy(readGuardrails({ enabled: true, controls: [] }, ALL).config, undefined)).toBeUndefined();
    expect(effectivePolicy(readGuardrails({ controls: [pii] }, ALL).config, undefined)).toBeUndefined();
  });

  it.each([
    ['{', 'GUARDRAILS_FLOOR must be a JSON object.'],
    ['[1]', 'GUARDRAILS_FLOOR must be an object.'],
    ['{"controls":[]}', 'GUARDRAILS_FLOOR.enabled must be true.'],
    ['{"enabled":true,"controls":[{"check":"x","stage":"input"}]}', 'GUARDRAILS_FLOOR.controls[0].check must be one of'],
  ])('of %s is refused', (text, problem) => expect(() => floorIn(text, ALL)).toThrow(problem));
});

function caught(work: () => unknown): Rejection {
  try {
    work();
  } catch (error) {
    return error as Rejection;
  }
  throw new Error('Nothing was refused.');
}
