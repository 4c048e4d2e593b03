import { describe, expect, it } from '@jest/globals';
import { GUARDRAIL_CHECKS } from '../../guardrails/guardrail.policy.js';
import { importedPolicy, portablePolicy } from './imported-config.policy.js';

const pii = { check: 'pii', stage: 'input' };
const imported = (config: object, toolIds: (string | null)[] = [], refs: string[] = [], current = {}) => {
  const warnings: string[] = [];
  const given = { config: config as Record<string, unknown>, toolIds, refs };
  const policy = importedPolicy(given, { current, checks: new Set(GUARDRAIL_CHECKS) }, warnings);
  return { policy, warnings };
};

describe('the policy of an imported file', () => {
  it('is taken if it is valid', () => {
    const config = { guardrails: { controls: [pii] }, restrict_origins: true, allowed_origins: ['https://a.example'] };
    expect(imported(config)).toEqual({ policy: config, warnings: [] });
    expect(imported({})).toEqual({ policy: {}, warnings: [] });
    expect(imported({ guardrails: null })).toEqual({ policy: {}, warnings: [] });
  });

  it('is taken without its invalid parts, each with a warning', () => {
    const { policy, warnings } = imported({
      ['x'.repeat(101)]: 1,
      guardrails: { enabled: true, mode: 'loud', controls: [pii] },
      api_write_allowlist: 'all',
      restrict_origins: true,
      allowed_origins: [],
    });
    expect(policy).toEqual({ guardrails: { enabled: true, controls: [pii] } });
    expect(warnings).toEqual([
      `Unknown key 'spec.config.${'x'.repeat(100)}'; ignored`,
      expect.stringMatching(/^spec\.config\.guardrails\.mode must be .* The rest of the guardrails was taken without it\.$/),
      expect.stringMatching(/api_write_allowlist must be an array\. The rest of the file was taken without it\.$/),
      expect.stringMatching(/allowed_origins must name an origin .* The rest of the file was taken without it\.$/),
    ]);
  });

  it('leaves the agent its own part instead of an invalid one, so that no file opens a restricted key', () => {
    const current = { restrict_origins: true, allowed_origins: ['https://a.example'], api_write_allowlist: ['t:put'] };
    const { policy } = imported({ restrict_origins: true, allowed_origins: ['https://*.example'] }, [], [], current);
    expect(policy).toEqual({ restrict_origins: true, allowed_origins: ['https://a.example'] });
  });

  it('names tools by their place in the file, or by the id that they had', () => {
    const entries = ['tool-0:get', 'ref-1:put:all', ' tool-1 :get'];
    expect(imported({ api_write_allowlist: entries }, ['t0', 't1'], ['ref-0', 'ref-1'])).toEqual({
      policy: { api_write_allowlist: ['t0:get', 't1:get', 't1:put:all'] },
      warnings: [],
    });
  });

  it('drops a write of a tool that is not attached', () => {
    const dropped = (entry: string) => `Allowed write '${entry}' names no tool that is attached; dropped`;
    expect(imported({ api_write_allowlist: ['tool-0:get', 'tool-2:get', 'lost:get', 'tool-1:get'] }, [null, 't1'])).toEqual({
      policy: { api_write_allowlist: ['t1:get'] },
      warnings: [dropped('tool-0:get'), dropped('tool-2:get'), dropped('lost:get')],
    });
  });

  it.each([['get'], [7], [['tool-0:get']]])('is refused in part if a write is %j', (entry) =>
    expect(imported({ api_write_allowlist: [entry] }, ['t0'])).toEqual({
      policy: {},
      warnings: [expect.stringContaining('api_write_allowlist must hold texts of the form <tool id>:<action>.')],
    }),
  );
});

describe('the policy in a file', () => {
  it('names tools by their place, sorts entries and keys, and leaves out other tools', () => {
    const policy = portablePolicy(
      {
        guardrails: { mode: 'scan_all', controls: [{ stage: 'input', check: 'pii', settings: null }] },
        api_write_allowlist: ['t1:put:all', 't0:set', 't9:get'],
        restrict_origins: false,
        allowed_origins: ['https://a.example'],
      },
      ['t0', 't1'],
    );
    expect(JSON.stringify(policy)).toBe(
      JSON.stringify({
        guardrails: { controls: [{ check: 'pii', settings: null, stage: 'input' }], mode: 'scan_all' },
        api_write_allowlist: ['tool-0:set', 'tool-1:put:all'],
        restrict_origins: false,
        allowed_origins: ['https://a.example'],
      }),
    );
  });
  it('has no part that the agent does not set', () => expect(portablePolicy({}, [])).toStrictEqual({}));
});
