import { describe, expect, it } from '@jest/globals';
import { agentTypeIn, normalPolicy } from './agent.policy.js';

it('an origin with a wildcard is refused, because no page has it', () => {
  const allowing = (origin: string) => normalPolicy({ restrict_origins: true, allowed_origins: [origin] }, new Set());
  expect(allowing('https://Shop.example:443/')).toMatchObject({ allowed_origins: ['https://shop.example'] });
  for (const pattern of ['https://*.example', 'https://*'])
    expect(() => allowing(pattern)).toThrow('allowed_origins must hold origins such as https://example.com');
});

it('an origin that is stored already is accepted again', () => {
  const stored = { restrict_origins: true, allowed_origins: ['https://*.example', 'https://a.example'] };
  expect(normalPolicy(stored, new Set(), stored)).toEqual(stored);
});

describe('an unchanged stored value', () => {
  it('of the guardrails is accepted even if one of its checks has been switched off', () => {
    const checks = new Set(['secrets'] as const);
    const stored = { guardrails: { enabled: true, controls: [{ check: 'pii', stage: 'input' }] } };
    expect(normalPolicy({ ...stored, restrict_origins: false }, checks, stored)).toEqual({ ...stored, restrict_origins: false });
    const changed = { guardrails: { ...stored.guardrails, mode: 'scan_all' } };
    expect(() => normalPolicy(changed, checks, stored)).toThrow('controls[0].check must be one of secrets');
  });

  it('of the type is accepted, and another unknown one is refused', () => {
    expect(agentTypeIn('research', 'research')).toBe('research');
    expect(() => agentTypeIn('oracle', 'research')).toThrow('agent_type must be one of');
  });
});
