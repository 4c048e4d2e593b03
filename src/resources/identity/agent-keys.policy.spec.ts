import { describe, expect, it } from '@jest/globals';
import { agentKeyHash, maskedAgentKey, newAgentKey, usableKey } from './agent-keys.policy.js';

it('a fresh key is a random UUID, never the same twice', () => {
  const [one, other] = [newAgentKey(), newAgentKey()];
  expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(other).not.toBe(one);
});

it('a key has a hash of its own, which does not show it', () => {
  const key = newAgentKey();
  expect(agentKeyHash(key)).toBe(agentKeyHash(key));
  expect(agentKeyHash(newAgentKey())).not.toBe(agentKeyHash(key));
  expect(agentKeyHash(key)).not.toContain(key);
});

it('a masked key shows its ends, and nothing of a short one', () => {
  expect(maskedAgentKey('12345678-aaaa-4bbb-8ccc-0000000090ab')).toBe('1234...90ab');
  expect(maskedAgentKey('demo')).toBe('...');
});

describe('a key', () => {
  const anywhere = { agentId: 'a1', ownerId: 'alice', keyId: 'key-1', isDraft: false, origins: null };
  const forShop = { ...anywhere, origins: ['https://shop.example'] };

  it('may be used by the pages it is for, by all where its owner says nothing, and by callers that are no page', () => {
    expect(usableKey(anywhere, 'https://other.example')).toBe(anywhere);
    expect(usableKey(forShop, 'https://shop.example')).toBe(forShop);
    expect(usableKey(forShop, undefined)).toBe(forShop);
  });

  it.each(['https://other.example', 'http://shop.example', 'https://shop.example.evil', 'null', ''])('keeps out %p', (origin) => {
    expect(() => usableKey(forShop, origin)).toThrow(expect.objectContaining({ code: 'origin-not-allowed' }));
  });

  it.each([
    ['is nobody’s', undefined],
    ['is a draft’s', { ...forShop, isDraft: true }],
  ])('that %s is unknown, wherever it comes from', (_, holder) => {
    for (const origin of [undefined, 'https://shop.example', 'https://other.example'])
      expect(() => usableKey(holder, origin)).toThrow(expect.objectContaining({ code: 'unknown-agent-key' }));
  });
});
