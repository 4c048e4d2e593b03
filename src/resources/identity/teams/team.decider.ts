import type { Family } from '../../../kernel/access.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { teamCodec } from './team.codec.js';
import { lackingInTeam, type NeededInTeam } from '../grants.policy.js';
import { teamForbidden, teamNotFound } from './team.policy.js';
import type { GrantEnd, GrantLevel, TeamEvent, TeamGrant, TeamRole } from './team.events.js';

export const TEAM_MEMBERS_MAX = 500;
export const TEAM_GRANTS_MAX = 2_000;

/** The state of a team, as far as its decisions need it. */
export type Team = Readonly<{
  id: string;
  status: 'none' | 'there' | 'deleted';
  name: string;
  description: string;
  ownerId: string;
  members: ReadonlyMap<string, TeamRole>;
  grants: ReadonlyMap<string, TeamGrant>;
}>;

const initial: Team = {
  id: '',
  status: 'none',
  name: '',
  description: '',
  ownerId: '',
  members: new Map(),
  grants: new Map(),
};

export const team: Aggregate<Team, TeamEvent> = { initial, evolve, codec: teamCodec };

function evolve(state: Team, event: TeamEvent): Team {
  switch (event.type) {
    case 'TeamCreated': {
      const { teamId, name, description, ownerId } = event.data;
      return { ...state, id: teamId, status: 'there', name, description, ownerId, members: new Map([[ownerId, 'team_admin']]) };
    }
    case 'TeamChanged':
      return { ...state, ...event.data.changes };
    case 'TeamMemberAdded':
    case 'TeamMemberRoleChanged':
      return { ...state, members: new Map(state.members).set(event.data.userId, event.data.role) };
    case 'TeamMemberRemoved':
      return { ...state, members: without(state.members, event.data.userId) };
    case 'TeamTransferred': {
      const { ownerId } = event.data;
      return { ...state, ownerId, members: new Map(state.members).set(ownerId, 'team_admin') };
    }
    case 'TeamGrantMade':
      return { ...state, grants: new Map(state.grants).set(event.data.grant.id, event.data.grant) };
    case 'TeamGrantChanged': {
      const grant = state.grants.get(event.data.grantId);
      if (!grant) return state;
      return { ...state, grants: new Map(state.grants).set(grant.id, { ...grant, level: event.data.level }) };
    }
    case 'TeamGrantEnded':
      return { ...state, grants: without(state.grants, event.data.grantId) };
    case 'TeamDeleted':
      return { ...state, status: 'deleted', members: new Map() };
  }
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

type Decide = Decision<Team, TeamEvent>;

/** The user who acts in a team. An administrator of the installation may delete any team and transfer it to another owner. */
export type TeamActor = Readonly<{ userId: string; isAdmin: boolean }>;

const teamMemberNotFound = () => new Rejection('team-member-not-found', 'Not found');

function requireIn(state: Team, { userId, isAdmin }: TeamActor, needs: NeededInTeam, message?: string): void {
  if (state.status !== 'there') throw teamNotFound();
  const lacking = lackingInTeam({ role: state.members.get(userId), isOwner: state.ownerId === userId, isAdmin }, needs);
  if (lacking === 'unknown') throw teamNotFound();
  if (lacking === 'forbidden') throw teamForbidden(message);
}

export type NewTeam = Readonly<{ name: string; slug: string; description: string }>;

export const create =
  (teamId: string, ownerId: string, wanted: NewTeam, now: Date): Decide =>
  (state) =>
    state.status === 'none' ? [{ type: 'TeamCreated', data: { teamId, ...wanted, ownerId, createdAt: now.toISOString() } }] : [];

export const change =
  (actor: TeamActor, wanted: Readonly<{ name?: string; description?: string }>, now: Date): Decide =>
  (state) => {
    requireIn(state, actor, 'team_admin');
    const { name = state.name, description = state.description } = wanted;
    const changes = {
      ...(name !== state.name && { name }),
      ...(description !== state.description && { description }),
    };
    if (Object.keys(changes).length === 0) return [];
    return [{ type: 'TeamChanged', data: { teamId: state.id, changes, updatedAt: now.toISOString() } }];
  };

/** Adds a member. If the user is a member already, changes the role. */
export const addMember =
  (actor: TeamActor, userId: string, role: TeamRole, now: Date): Decide =>
  (state) => {
    requireIn(state, actor, 'team_admin');
    if (state.members.has(userId)) return changeRole(actor, userId, role, now)(state);
    if (state.members.size >= TEAM_MEMBERS_MAX)
      throw new Rejection('team-full', `A team has at most ${TEAM_MEMBERS_MAX} members.`);
    const data = { teamId: state.id, userId, role, addedBy: actor.userId, addedAt: now.toISOString() };
    return [{ type: 'TeamMemberAdded', data }];
  };

export const changeRole =
  (actor: TeamActor, userId: string, role: TeamRole, now: Date): Decide =>
  (state) => {
    requireIn(state, actor, 'team_admin');
    const current = state.members.get(userId);
    if (!current) throw teamMemberNotFound();
    if (current === role) return [];
    if (role === 'team_member') requireAnotherAdmin(state, userId, 'Cannot demote the last team admin');
    if (role === 'team_member' && userId === state.ownerId) throw ownerStays('Cannot demote the owner of the team');
    return [{ type: 'TeamMemberRoleChanged', data: { teamId: state.id, userId, role, changedAt: now.toISOString() } }];
  };

/**
 * Removes a member. Ends the grants to this member alone, the grants that this member has made, and all grants of resources that
 * the member owns.
 */
export const removeMember =
  (actor: TeamActor, userId: string, now: Date): Decide =>
  (state) => {
    requireIn(state, actor, actor.userId === userId ? 'member' : 'team_admin');
    if (!state.members.has(userId)) throw teamMemberNotFound();
    requireAnotherAdmin(state, userId, 'Cannot remove the last team admin');
    if (userId === state.ownerId) throw ownerStays('Cannot remove the owner of the team');
    const ended = [...state.grants.values()].filter(({ targetUserId, grantedBy, ownerId }) =>
      [targetUserId, grantedBy, ownerId].includes(userId),
    );
    return [
      ...ended.map((grant) => endOf(state, grant, 'member-left', now)),
      { type: 'TeamMemberRemoved', data: { teamId: state.id, userId, removedAt: now.toISOString() } },
    ];
  };

const ownerStays = (message: string) => new Rejection('team-owner-stays', message);

function requireAnotherAdmin({ members }: Team, userId: string, message: string): void {
  if (members.get(userId) !== 'team_admin') return;
  const others = [...members].some(([id, role]) => id !== userId && role === 'team_admin');
  if (!others) throw new Rejection('team-last-admin', message);
}

export const transfer =
  (actor: TeamActor, ownerId: string, now: Date): Decide =>
  (state) => {
    requireIn(state, actor, 'owner', 'Only the team owner can transfer it');
    if (!state.members.has(ownerId)) throw new Rejection('team-new-owner-unknown', 'New owner must be a member');
    if (state.ownerId === ownerId) return [];
    return [{ type: 'TeamTransferred', data: { teamId: state.id, ownerId, transferredAt: now.toISOString() } }];
  };

export const remove =
  (actor: TeamActor, now: Date): Decide =>
  (state) => {
    requireIn(state, actor, 'owner', 'Only the team owner can delete');
    return [
      ...[...state.grants.values()].map((grant) => endOf(state, grant, 'team-deleted', now)),
      { type: 'TeamDeleted', data: { teamId: state.id, deletedAt: now.toISOString() } },
    ];
  };

/** A resource to share, with its name. */
export type SharedThing = Readonly<{ family: Family; resourceId: string; ownerId: string; name: string }>;

export type WantedGrant = Omit<SharedThing, 'name'> & Readonly<{ id: string; level: GrantLevel; targetUserId: string | null }>;

/** Grants the team or one member access to a resource. If they have a grant already, changes its level. */
export const grant =
  (actor: TeamActor, wanted: WantedGrant, now: Date, resourceName?: string): Decide =>
  (state) => {
    requireIn(state, actor, 'member');
    const { targetUserId, level } = wanted;
    if (targetUserId !== null && !state.members.has(targetUserId))
      throw new Rejection('team-target-unknown', 'Target is not a team member');
    const same = grantFor(state, wanted, targetUserId);
    if (same?.level === level) return [];
    if (same) {
      const data = { teamId: state.id, grantId: same.id, level, changedAt: now.toISOString() };
      return [{ type: 'TeamGrantChanged', data }];
    }
    if (state.grants.size >= TEAM_GRANTS_MAX)
      throw new Rejection('team-grants-full', `A team holds at most ${TEAM_GRANTS_MAX} grants.`);
    const made = { ...wanted, grantedBy: actor.userId, grantedAt: now.toISOString() };
    return [{ type: 'TeamGrantMade', data: { teamId: state.id, grant: made, ...(resourceName && { resourceName }) } }];
  };

/** The grant of a resource to the whole team or to one member. */
export const grantFor = (
  { grants }: Team,
  { family, resourceId }: Pick<SharedThing, 'family' | 'resourceId'>,
  targetUserId: string | null,
): TeamGrant | undefined =>
  [...grants.values()].find(
    (each) => each.family === family && each.resourceId === resourceId && each.targetUserId === targetUserId,
  );

/**
 * Ends the grant of a resource. Allowed for members who may share the resource, for administrators of the team, and for the owner
 * of the resource, who may not be a member because editors can share it too. Has no effect if there is no grant.
 */
export const revoke =
  (
    actor: TeamActor,
    thing: Pick<SharedThing, 'family' | 'resourceId'>,
    targetUserId: string | null,
    mayShare: boolean,
    now: Date,
  ): Decide =>
  (state) => {
    const held = grantFor(state, thing, targetUserId);
    if (held?.ownerId !== actor.userId) requireIn(state, actor, mayShare ? 'member' : 'team_admin', 'Not the resource owner');
    return held ? [endOf(state, held, 'revoked', now)] : [];
  };

/** Ends all grants of a deleted resource. */
export const endGrantsOf =
  ({ family, resourceId }: Pick<SharedThing, 'family' | 'resourceId'>, now: Date): Decide =>
  (state) =>
    [...state.grants.values()]
      .filter((each) => each.family === family && each.resourceId === resourceId)
      .map((each) => endOf(state, each, 'resource-deleted', now));

const endOf = ({ id: teamId }: Team, { id: grantId, family, resourceId }: TeamGrant, reason: GrantEnd, now: Date): TeamEvent => ({
  type: 'TeamGrantEnded',
  data: { teamId, grantId, family, resourceId, reason, endedAt: now.toISOString() },
});
