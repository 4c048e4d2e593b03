import { describe, expect, it } from '@jest/globals';
import {
  addMember,
  change,
  changeRole,
  create,
  endGrantsOf,
  grant,
  remove,
  removeMember,
  revoke,
  type Team,
  team,
  TEAM_GRANTS_MAX,
  TEAM_MEMBERS_MAX,
  transfer,
} from './team.decider.js';
import type { TeamEvent } from './team.events.js';

const now = new Date('2026-01-01T00:00:00Z');
const as = (userId: string, isAdmin = false) => ({ userId, isAdmin });
const [alice, bob, mallory, root] = [as('alice'), as('bob'), as('mallory'), as('root', true)];
const agent = { family: 'agents', resourceId: 'a1', ownerId: 'alice' } as const;
const wanted = (more: object = {}) => ({ id: 'g1', ...agent, level: 'viewer', targetUserId: null, ...more }) as const;

const grown = (state: Team, events: readonly TeamEvent[]): Team => events.reduce(team.evolve, state);
const founded = grown(team.initial, create('t1', 'alice', { name: 'Us', slug: 'us', description: '' }, now)(team.initial));
const withBob = grown(founded, addMember(alice, 'bob', 'team_member', now)(founded));
const sharing = grown(withBob, grant(alice, wanted(), now)(withBob));
const typesOf = (events: readonly TeamEvent[]) => events.map(({ type }) => type);

it('a team is created once, and its owner is its first administrator', () => {
  expect([...founded.members]).toEqual([['alice', 'team_admin']]);
  expect(create('t1', 'bob', { name: 'Them', slug: 'them', description: '' }, now)(founded)).toEqual([]);
});

describe('an action in a team', () => {
  const acts = {
    change: (by: typeof alice) => change(by, { name: 'We' }, now),
    'add a member': (by: typeof alice) => addMember(by, 'carol', 'team_member', now),
    'change a role': (by: typeof alice) => changeRole(by, 'bob', 'team_admin', now),
    'remove a member': (by: typeof alice) => removeMember(by, 'bob', now),
    transfer: (by: typeof alice) => transfer(by, 'bob', now),
    delete: (by: typeof alice) => remove(by, now),
  };

  it.each(Object.entries(acts))('%s: the owner may, another user gets "not found"', (_, act) => {
    expect(act(alice)(withBob).length).toBeGreaterThan(0);
    expect(() => act(mallory)(withBob)).toThrow(expect.objectContaining({ code: 'team-not-found' }));
  });

  it.each(Object.entries(acts).filter(([name]) => name !== 'remove a member'))('%s: a member may not', (_, act) => {
    expect(() => act(bob)(withBob)).toThrow(expect.objectContaining({ code: 'team-forbidden' }));
  });

  it('administrators of the installation may only delete and transfer', () => {
    expect(typesOf(acts.delete(root)(withBob))).toEqual(['TeamDeleted']);
    expect(typesOf(acts.transfer(root)(withBob))).toEqual(['TeamTransferred']);
    expect(() => acts.change(root)(withBob)).toThrow(expect.objectContaining({ code: 'team-not-found' }));
  });

  it('is refused once the team is deleted', () => {
    const deleted = grown(withBob, remove(alice, now)(withBob));
    for (const act of Object.values(acts))
      expect(() => act(root)(deleted)).toThrow(expect.objectContaining({ code: 'team-not-found' }));
  });
});

describe('members', () => {
  it('can leave by themselves', () => {
    expect(typesOf(removeMember(bob, 'bob', now)(withBob))).toEqual(['TeamMemberRemoved']);
    expect(() => removeMember(bob, 'alice', now)(withBob)).toThrow(expect.objectContaining({ code: 'team-forbidden' }));
  });

  it('are removed only if they are in the team', () =>
    expect(() => removeMember(alice, 'mallory', now)(withBob)).toThrow(
      expect.objectContaining({ code: 'team-member-not-found' }),
    ));

  it('lose the grants to them alone and the grants of their resources when they leave', () => {
    const both = [wanted({ id: 'g2', targetUserId: 'bob' }), wanted({ id: 'g3', resourceId: 'a2', ownerId: 'bob' })];
    const state = both.reduce((before, each) => grown(before, grant(alice, each, now)(before)), sharing);
    const events = removeMember(alice, 'bob', now)(state);
    expect(events.map(({ type, data }) => ('grantId' in data ? data.grantId : type))).toEqual(['g2', 'g3', 'TeamMemberRemoved']);
    expect([...grown(state, events).grants.keys()]).toEqual(['g1']);
  });

  it('lose the grants that they made of resources of others when they leave', () => {
    const made = wanted({ id: 'g2', resourceId: 'a2', ownerId: 'carol' });
    const state = grown(sharing, grant(bob, made, now)(sharing));
    const left = grown(state, removeMember(bob, 'bob', now)(state));
    expect([[...state.grants.keys()], [...left.grants.keys()]]).toEqual([['g1', 'g2'], ['g1']]);
  });

  it('who are added again get the new role', () => {
    expect(addMember(alice, 'bob', 'team_member', now)(withBob)).toEqual([]);
    expect(typesOf(addMember(alice, 'bob', 'team_admin', now)(withBob))).toEqual(['TeamMemberRoleChanged']);
  });

  it('always include an administrator and the owner', () => {
    const last = expect.objectContaining({ code: 'team-last-admin' });
    expect(() => changeRole(alice, 'alice', 'team_member', now)(withBob)).toThrow(last);
    expect(() => removeMember(alice, 'alice', now)(withBob)).toThrow(last);
    const two = grown(withBob, changeRole(alice, 'bob', 'team_admin', now)(withBob));
    const owner = expect.objectContaining({ code: 'team-owner-stays' });
    expect(() => removeMember(bob, 'alice', now)(two)).toThrow(owner);
    expect(() => changeRole(bob, 'alice', 'team_member', now)(two)).toThrow(owner);
    const given = grown(two, transfer(alice, 'bob', now)(two));
    expect(typesOf(removeMember(bob, 'alice', now)(given))).toEqual(['TeamMemberRemoved']);
  });

  it(`are at most ${TEAM_MEMBERS_MAX}`, () => {
    const members = new Map([
      ...founded.members,
      ...Array.from({ length: TEAM_MEMBERS_MAX - 1 }, (_, n) => [`u${n}`, 'team_member'] as const),
    ]);
    const full = { ...founded, members };
    expect(() => addMember(alice, 'one more', 'team_member', now)(full)).toThrow(expect.objectContaining({ code: 'team-full' }));
    expect(addMember(alice, 'u1', 'team_member', now)(full)).toEqual([]);
  });
});

describe('a grant', () => {
  it('is made once for the same resource and members, and a repeat changes its level', () => {
    expect(grant(alice, wanted({ id: 'g2' }), now)(sharing)).toEqual([]);
    const events = grant(alice, wanted({ id: 'g2', level: 'editor' }), now)(sharing);
    expect(events).toMatchObject([{ type: 'TeamGrantChanged', data: { grantId: 'g1', level: 'editor' } }]);
    expect(grown(sharing, events).grants.get('g1')?.level).toBe('editor');
    expect(typesOf(grant(alice, wanted({ id: 'g2', targetUserId: 'bob' }), now)(sharing))).toEqual(['TeamGrantMade']);
  });

  it('is made only for members and by members', () => {
    const unknown = expect.objectContaining({ code: 'team-target-unknown' });
    expect(() => grant(alice, wanted({ targetUserId: 'mallory' }), now)(withBob)).toThrow(unknown);
    expect(() => grant(mallory, wanted(), now)(withBob)).toThrow(expect.objectContaining({ code: 'team-not-found' }));
  });

  it('is revoked by members who may share the resource and by administrators of the team', () => {
    expect(typesOf(revoke(bob, agent, null, true, now)(sharing))).toEqual(['TeamGrantEnded']);
    expect(typesOf(revoke(alice, agent, null, false, now)(sharing))).toEqual(['TeamGrantEnded']);
    const forbidden = expect.objectContaining({ code: 'team-forbidden' });
    expect(() => revoke(bob, agent, null, false, now)(sharing)).toThrow(forbidden);
    expect(revoke(alice, agent, 'bob', true, now)(sharing)).toEqual([]);
  });

  it('is revoked by the owner of the resource, even if the owner is not a member', () => {
    const of = (ownerId: string) => grown(withBob, grant(bob, wanted({ ownerId }), now)(withBob));
    expect(typesOf(revoke(mallory, agent, null, true, now)(of('mallory')))).toEqual(['TeamGrantEnded']);
    expect(() => revoke(mallory, agent, null, true, now)(of('alice'))).toThrow(
      expect.objectContaining({ code: 'team-not-found' }),
    );
    expect(() => revoke(mallory, agent, 'bob', true, now)(of('mallory'))).toThrow(
      expect.objectContaining({ code: 'team-not-found' }),
    );
  });

  it('ends when the team or the resource is deleted', () => {
    expect(typesOf(remove(alice, now)(sharing))).toEqual(['TeamGrantEnded', 'TeamDeleted']);
    const events = endGrantsOf(agent, now)(sharing);
    expect(events).toMatchObject([{ data: { grantId: 'g1', reason: 'resource-deleted' } }]);
    expect(endGrantsOf(agent, now)(grown(sharing, events))).toEqual([]);
  });

  it(`is one of at most ${TEAM_GRANTS_MAX}`, () => {
    const [one] = sharing.grants.values();
    const grants = new Map(
      Array.from({ length: TEAM_GRANTS_MAX }, (_, n) => [`g${n}`, { ...one!, id: `g${n}`, resourceId: `r${n}` }]),
    );
    const full = expect.objectContaining({ code: 'team-grants-full' });
    expect(() => grant(alice, wanted(), now)({ ...withBob, grants })).toThrow(full);
  });
});
