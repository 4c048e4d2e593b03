import { describe, expect, it } from '@jest/globals';
import { agentTypeIn, normalPolicy } from './agent.policy.js';

describe('what an agent has stored', () => {
  it('of guardrails stays as long as it is not changed', () => {
    const stored = { guardrails: { enabled: true, controls: [{ check: 'pii', stage: 'input' }] } };
    expect(normalPolicy({ ...stored, restrict_origins: false }, stored)).toEqual({ ...stored, restrict_origins: false });
    const changed = { guardrails: { ...stored.guardrails, controls: [] } };
    expect(() => normalPolicy(changed, stored)).toThrow('config.guardrails cannot be enabled');
  });

  it('as its type stays as long as it is not changed', () => {
    expect(agentTypeIn('research', 'research')).toBe('research');
    expect(() => agentTypeIn('oracle', 'research')).toThrow('agent_type must be one of');
  });
});
