import { describe, expect, it } from '@jest/globals';
import { agentTypeIn, normalPolicy } from './agent.policy.js';

describe('what an agent has stored', () => {
  it('of guardrails stays as long as it is not changed, also where one of its checks has been switched off', () => {
    const checks = new Set(['secrets'] as const);
    const stored = { guardrails: { enabled: true, controls: [{ check: 'pii', stage: 'input' }] } };
    expect(normalPolicy({ ...stored, restrict_origins: false }, checks, stored)).toEqual({ ...stored, restrict_origins: false });
    const changed = { guardrails: { ...stored.guardrails, mode: 'scan_all' } };
    expect(() => normalPolicy(changed, checks, stored)).toThrow('controls[0].check must be one of secrets');
  });

  it('as its type stays as long as it is not changed', () => {
    expect(agentTypeIn('research', 'research')).toBe('research');
    expect(() => agentTypeIn('oracle', 'research')).toThrow('agent_type must be one of');
  });
});
