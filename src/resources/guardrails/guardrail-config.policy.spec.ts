import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyGuardrails, BAD_GUARDRAILS, GUARDRAILS_INVALID } from '../../../test/support/guardrail-configs.js';
import { Rejection } from '../../kernel/rejection.js';
import { CHECK_CATALOG } from './guardrail-catalog.policy.js';
import { DEFAULT_BLOCK_MESSAGE, judgesIn, readGuardrails, validGuardrails } from './guardrail-config.policy.js';
import { effectivePolicy, floorIn } from './guardrail-floor.policy.js';
import { GUARDRAIL_CHECKS } from './guardrail.policy.js';

const ALL = new Set(GUARDRAIL_CHECKS);
const pii = { check: 'pii', stage: 'input' };

describe('a configuration of guardrails', () => {
  it.each(BAD_GUARDRAILS)('%s is refused with the known message and the field', (_, value, problem) => {
    const refusal = caught(() => validGuardrails(value, ALL));
    expect([refusal.code, refusal.message]).toEqual([
      'invalid-agent-config',
      expect.stringContaining(`${GUARDRAILS_INVALID}${problem}`),
    ]);
  });

  it('accepts every setting at its limits', () => {
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

  it('checks nothing if it is empty', () => {
    expect(readGuardrails({}, ALL)).toEqual({
      config: {
        enabled: false,
        policy: { mode: 'monitor_only', failOpen: true, timeoutMs: 2000, blockMessage: DEFAULT_BLOCK_MESSAGE, controls: [] },
      },
      kept: {},
      problems: [],
    });
  });

  it('has defaults for missing settings', () => {
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

  it('from a file keeps its valid parts', () => {
    const value = { enabled: true, mode: 'loud', x: 1, controls: [pii, { check: 'pii' }, { check: 'url', stage: 'input' }, pii] };
    const reading = readGuardrails(value, ALL);
    expect(reading.kept).toEqual({ enabled: true, controls: [pii] });
    expect(reading.problems).toHaveLength(5);
    expect(validGuardrails(reading.kept, ALL)).toBe(reading.kept);
  });

  it('cannot use a check that the instance has disabled', () => {
    expect(caught(() => validGuardrails({ controls: [pii] }, new Set(['secrets'] as const))).message).toBe(
      `${GUARDRAILS_INVALID}.controls[0].check must be one of secrets.`,
    );
  });

  it('names its judge models', () => {
    const judge = { check: 'policy', stage: 'output', settings: { policy: 'No insults.', model: 'gpt' } };
    expect([judgesIn({ controls: [pii, judge] }), judgesIn(undefined)]).toEqual([['gpt'], []]);
  });

  it('is either accepted or refused, and its kept parts are valid', () => {
    fc.assert(
      fc.property(anyGuardrails, (config) => {
        const { kept, problems } = readGuardrails(config, ALL);
        expect(readGuardrails(kept, ALL)).toMatchObject({ kept, problems: [] });
        if (problems.length === 0) expect(validGuardrails(config, ALL)).toBe(config);
        else expect(caught(() => validGuardrails(config, ALL))).toBeInstanceOf(Rejection);
      }),
      { numRuns: 2000 },
    );
  });

  it('can have at most eight checks per stage that ask a model', () => {
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

  it('applies alone to agents without guardrails', () => {
    expect(effective({})).toEqual(floor);
    expect(effective({ mode: 'scan_all', controls: [{ check: 'pii', stage: 'output' }] })).toEqual(floor);
  });

  it('is never weakened by an agent’s guardrails', () => {
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

  it('is undefined if it is empty', () => {
    expect(floorIn('{}', ALL)).toBeUndefined();
    expect(effectivePolicy(readGuardrails({ enabled: true, controls: [] }, ALL).config, undefined)).toBeUndefined();
    expect(effectivePolicy(readGuardrails({ controls: [pii] }, ALL).config, undefined)).toBeUndefined();
  });

  it.each([
    ['{', 'GUARDRAILS_FLOOR must be a JSON object.'],
    ['[1]', 'GUARDRAILS_FLOOR must be an object.'],
    ['{"controls":[]}', 'GUARDRAILS_FLOOR.enabled must be true.'],
    ['{"enabled":true,"controls":[{"check":"x","stage":"input"}]}', 'GUARDRAILS_FLOOR.controls[0].check must be one of'],
  ])('with the value %s is refused', (text, problem) => expect(() => floorIn(text, ALL)).toThrow(problem));
});

function caught(work: () => unknown): Rejection {
  try {
    work();
  } catch (error) {
    return error as Rejection;
  }
  throw new Error('Nothing was refused.');
}
