import { describe, expect, it } from '@jest/globals';
import { accessTokenHash, expiryIn, freshAccessToken, nameIn, resourcesIn, scopesIn } from './access-token.policy.js';
import { isAccessToken } from '../access-token-directory.port.js';

const rules = { enabled: true, defaultLifetimeDays: 90, maxLifetimeDays: 365, allowNonExpiring: false, maxPerUser: 25 };
const now = new Date('2026-01-01T00:00:00.000Z');
const ID = '3c1f1c5e-7a0b-4d3e-9c8e-2f6b1b7d9a01';
const refused = (work: () => unknown) => expect(work).toThrow(expect.objectContaining({ code: 'invalid-request' }));

describe('a new token', () => {
  it('is random, has the prefix, and the stored part does not reveal it', () => {
    const [one, other] = [freshAccessToken(), freshAccessToken()];
    expect(one.token).toMatch(/^dgpt_pat_[\w-]{43}$/);
    expect(one.token).not.toBe(other.token);
    expect(one.secret).toEqual({ hash: accessTokenHash(one.token), prefix: one.token.slice(0, 15) });
    expect(JSON.stringify(one.secret)).not.toContain(one.token.slice(15));
  });

  it('is distinguished from other bearer tokens, and a too long one is not looked up', () => {
    expect(['dgpt_pat_x', 'eyJhbGciOi', 'DGPT_PAT_x', undefined].map(isAccessToken)).toEqual([true, false, false, false]);
    expect(accessTokenHash('dgpt_pat_'.padEnd(200, 'x'))).toBeUndefined();
  });
});

it('a name is a trimmed string of limited length', () => {
  expect(nameIn(' CI ')).toBe('CI');
  expect(nameIn('😀'.repeat(100))).toBe('😀'.repeat(100));
  for (const wrong of [undefined, 1, ' ', 'x'.repeat(101), '😀'.repeat(101), 'a\0b', '\ud800']) refused(() => nameIn(wrong));
});

it('scopes must be known, and duplicates are removed', () => {
  expect(scopesIn(['chat:run', 'agents:read', 'chat:run'])).toEqual(['agents:read', 'chat:run']);
  for (const wrong of [undefined, [], 'chat:run', ['chat:all'], [1], ['toString']]) refused(() => scopesIn(wrong));
});

describe('a restriction', () => {
  it('lists ids of families in which the token has a scope', () => {
    expect(resourcesIn(undefined, ['chat:run'])).toEqual({});
    expect(resourcesIn({ agents: [ID.toUpperCase(), ID], sources: [ID] }, ['chat:run'])).toEqual({ agents: [ID], sources: [ID] });
    expect(resourcesIn({ tools: [ID] }, ['tools:read'])).toEqual({ tools: [ID] });
  });

  it.each<[string, unknown]>([
    ['an unknown family', { models: [ID] }],
    ['a family without a scope', { tools: [ID] }],
    ['no ids', { agents: [] }],
    ['an invalid id', { agents: ['all'] }],
    ['a string instead of a list', { agents: ID }],
    ['too many ids', { agents: Array.from({ length: 201 }, () => ID) }],
    ['a list instead of an object', [ID]],
    ['the prototype', JSON.parse(`{"__proto__": ["${ID}"]}`)],
  ])('is refused with %s', (_, filter) => refused(() => resourcesIn(filter, ['chat:run'])));
});

it('a token expires after the requested days, within the limits', () => {
  expect(expiryIn(1, rules, now)).toBe('2026-01-02T00:00:00.000Z');
  expect(expiryIn(undefined, rules, now)).toBe('2026-04-01T00:00:00.000Z');
  expect(expiryIn(undefined, { ...rules, maxLifetimeDays: 1 }, now)).toBe('2026-01-02T00:00:00.000Z');
  expect(expiryIn(0, { ...rules, allowNonExpiring: true }, now)).toBeNull();
  for (const wrong of [0, -1, 366, 1.5, '7', true, Number.NaN]) refused(() => expiryIn(wrong, rules, now));
});
