import { describe, expect, it } from '@jest/globals';
import { readGuardrails } from './guardrail-config.policy.js';
import { checksIn, effectivePolicy } from './guardrail-floor.policy.js';
import { GUARDRAIL_ACTIONS, GUARDRAIL_CHECKS, type GuardrailPolicy } from './guardrail.policy.js';

const ALL = new Set(GUARDRAIL_CHECKS);
const pii = { check: 'pii', stage: 'input' };
const configOf = (config: object) => readGuardrails({ enabled: true, controls: [pii], ...config }, ALL).config;

describe('the checks of the service', () => {
  it('are all if the operator lists none', () => expect([...checksIn([])]).toEqual(GUARDRAIL_CHECKS));
  it('are those that the operator lists', () => expect([...checksIn(['url', 'pii'])]).toEqual(['pii', 'url']));
  it('cannot be unknown', () =>
    expect(() => checksIn(['pii', 'toxicity'])).toThrow(
      'GUARDRAILS_CHECKS_ENABLED may hold pii, secrets, denylist, url, injection, groundedness, policy, not "toxicity".',
    ));
});

describe('the policy of an agent', () => {
  it('is its own if there is no floor', () => {
    const config = configOf({});
    expect(effectivePolicy(config, undefined)).toBe(config.policy);
    expect(effectivePolicy({ ...config, enabled: false }, undefined)).toBeUndefined();
  });

  it('is undefined if neither it nor the floor has controls', () => {
    const none = configOf({ controls: [] });
    expect(effectivePolicy(none, none.policy)).toBeUndefined();
    expect(effectivePolicy(none, configOf({}).policy)?.controls).toHaveLength(1);
  });

  const merged = (own: object, floor: object): GuardrailPolicy => effectivePolicy(configOf(own), configOf(floor).policy)!;
  it.each([
    ['monitor_only', 'monitor_only', 'monitor_only'],
    ['monitor_only', 'scan_all', 'scan_all'],
    ['scan_all', 'monitor_only', 'scan_all'],
    ['scan_all', 'scan_all', 'scan_all'],
  ])('with the mode %s over a floor with %s scans as %s', (own, floor, mode) =>
    expect(merged({ mode: own }, { mode: floor }).mode).toBe(mode),
  );
  it.each([
    [true, true, true],
    [true, false, false],
    [false, true, false],
  ])('with fail_open %s over a floor with %s fails open: %s', (own, floor, failOpen) =>
    expect(merged({ fail_open: own }, { fail_open: floor }).failOpen).toBe(failOpen),
  );
  it.each([
    [300, 500],
    [500, 300],
  ])('with %i ms over a floor with %i ms has 500 ms', (own, floor) =>
    expect(merged({ timeout_ms: own }, { timeout_ms: floor }).timeoutMs).toBe(500),
  );

  it.each(GUARDRAIL_ACTIONS.flatMap((own, a) => GUARDRAIL_ACTIONS.map((floor, b) => [own, floor, a > b ? own : floor])))(
    'with the action %s over a floor with %s takes the stricter one, %s',
    (own, floor, action) =>
      expect(merged({ controls: [{ ...pii, action: own }] }, { controls: [{ ...pii, action: floor }] }).controls).toMatchObject([
        { ...pii, action },
      ]),
  );

  it('has the controls of both, which are the same only with the same check at the same stage', () =>
    expect(
      merged({ controls: [{ ...pii, stage: 'output' }, { check: 'secrets', stage: 'input' }, pii] }, {}).controls,
    ).toMatchObject([pii, { ...pii, stage: 'output' }, { check: 'secrets', stage: 'input' }]));
});
