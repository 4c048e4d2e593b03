import { describe, expect, it } from '@jest/globals';
import { agentKeyHash, maskedAgentKey, newAgentKey, usableKey } from './agent-keys.policy.js';

it('a new key is a random UUID', () => {
  const [one, other] = [newAgentKey(), newAgentKey()];
  expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(other).not.toBe(one);
});

it('each key has a different hash, which does not contain the key', () => {
  const key = newAgentKey();
  expect(agentKeyHash(key)).toBe(agentKeyHash(key));
  expect(agentKeyHash(newAgentKey())).not.toBe(agentKeyHash(key));
  expect(agentKeyHash(key)).not.toContain(key);
});

it('a masked key shows its first and last characters, and nothing of a short key', () => {
  expect(maskedAgentKey('12345678-aaaa-4bbb-8ccc-0000000090ab')).toBe('1234...90ab');
  expect(maskedAgentKey('demo')).toBe('...');
});

describe('a key', () => {
  const anywhere = { agentId: 'a1', ownerId: 'alice', keyId: 'key-1', isDraft: false, origins: null };
  const forShop = { ...anywhere, origins: ['https://shop.example'] };

  it('may be used from its allowed origins, from all origins by default, and without an origin', () => {
    expect(usableKey(anywhere, 'https://other.example')).toBe(anywhere);
    expect(usableKey(forShop, 'https://shop.example')).toBe(forShop);
    expect(usableKey(forShop, undefined)).toBe(forShop);
  });

  it.each(['https://other.example', 'http://shop.example', 'https://shop.example.evil', 'null', ''])(
    'is refused from the origin %p',
    (origin) => {
      expect(() => usableKey(forShop, origin)).toThrow(expect.objectContaining({ code: 'origin-not-allowed' }));
    },
  );

  it.each([
    ['does not exist', undefined],
    ['belongs to a draft', { ...forShop, isDraft: true }],
  ])('that %s is unknown from every origin', (_, holder) => {
    for (const origin of [undefined, 'https://shop.example', 'https://other.example'])
      expect(() => usableKey(holder, origin)).toThrow(expect.objectContaining({ code: 'unknown-agent-key' }));
  });
});
