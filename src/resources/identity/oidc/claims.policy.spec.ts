import { describe, expect, it } from '@jest/globals';
import { groupsIn, isAdmin, isAllowed, labelIn, userIdIn } from './claims.policy.js';

describe('the id of a user', () => {
  it.each([
    [{ sub: 'ann' }, 'sub', 'ann'],
    [{ sub: 7 }, 'sub', '7'],
    [{ email: 'ann@example.org', email_verified: true }, 'email', 'ann@example.org'],
    [{ email: 'ann@example.org' }, 'email', 'ann@example.org'],
    [{ email: 'ann@example.org', email_verified: 'true' }, 'email', 'ann@example.org'],
    [{ email: 'ann@example.org', email_verified: false }, 'email', undefined],
    [{ email: 'ann@example.org', email_verified: 'false' }, 'email', undefined],
    [{ sub: 'ann', email_verified: false }, 'sub', 'ann'],
    [{}, 'sub', undefined],
    [{ sub: '' }, 'sub', undefined],
    [{ sub: ['ann'] }, 'sub', undefined],
    [{ sub: 'a\0b' }, 'sub', undefined],
    [{ sub: 'a\ud800' }, 'sub', undefined],
    [{ sub: 'a'.repeat(257) }, 'sub', undefined],
  ])('of %j by %s is %s', (claims, claim, id) => expect(userIdIn(claims, claim)).toBe(id));
});

describe('groups', () => {
  it.each([
    [{}, undefined],
    [{ groups: null }, undefined],
    [{ groups: [] }, []],
    [{ groups: 'staff' }, ['staff']],
    [{ groups: ['staff', 7] }, ['staff', '7']],
  ])('in %j are %j', (claims, groups) => expect(groupsIn(claims, 'groups')).toEqual(groups));

  it('admit all users if no group is required, and otherwise only their members', () => {
    expect(isAllowed(undefined, [])).toBe(true);
    expect(isAllowed(undefined, ['staff'])).toBe(false);
    expect(isAllowed(['guests'], ['staff'])).toBe(false);
    expect(isAllowed(['guests', 'staff'], ['staff'])).toBe(true);
  });

  it('decide about administrators only if they are known and admin groups are configured', () => {
    expect(isAdmin(undefined, ['chiefs'])).toBeUndefined();
    expect(isAdmin(['chiefs'], [])).toBeUndefined();
    expect(isAdmin([], ['chiefs'])).toBe(false);
    expect(isAdmin(['chiefs'], ['chiefs'])).toBe(true);
  });
});

it('a label keeps only strings of limited length', () => {
  expect(labelIn({ email: 'ann@example.org', name: 'Ann', picture: 7 })).toEqual({
    email: 'ann@example.org',
    name: 'Ann',
    picture: null,
  });
  expect(labelIn({ name: 'x'.repeat(257), email: '', picture: 'x'.repeat(2048) })).toEqual({
    email: null,
    name: null,
    picture: 'x'.repeat(2048),
  });
});
