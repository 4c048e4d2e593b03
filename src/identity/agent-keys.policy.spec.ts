import { expect, it } from '@jest/globals';
import { agentKeyHash, isAgentKey, maskedAgentKey, newAgentKey } from './agent-keys.policy.js';

it('a fresh key is a random UUID, never the same twice', () => {
  const [one, other] = [newAgentKey(), newAgentKey()];
  expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(other).not.toBe(one);
});

it('a key fits the hash made of it and no other', () => {
  const key = newAgentKey();
  expect(isAgentKey(key, agentKeyHash(key))).toBe(true);
  expect(isAgentKey(newAgentKey(), agentKeyHash(key))).toBe(false);
  expect(isAgentKey(key, '')).toBe(false);
  expect(agentKeyHash(key)).not.toContain(key);
});

it('a masked key shows its ends, and nothing of a short one', () => {
  expect(maskedAgentKey('12345678-aaaa-4bbb-8ccc-0000000090ab')).toBe('1234...90ab');
  expect(maskedAgentKey('demo')).toBe('...');
});
