import type { Family } from '../../../kernel/access.js';
import type { Event } from '../../../kernel/event-sourcing/events.js';

export type TeamRole = 'team_admin' | 'team_member';

/** Viewers may use a resource, editors may also change it. */
export type GrantLevel = 'viewer' | 'editor';

/** Gives a team, or one of its members, access to a resource. */
export type TeamGrant = Readonly<{
  id: string;
  family: Family;
  resourceId: string;
  /** The owner of the resource. */
  ownerId: string;
  level: GrantLevel;
  /** The member who has the grant. Null for all members. */
  targetUserId: string | null;
  grantedBy: string;
  grantedAt: string;
}>;

/** Why a grant ended. */
export type GrantEnd = 'revoked' | 'member-left' | 'team-deleted' | 'resource-deleted';

/** The owner is the first member and an administrator. */
export type TeamCreated = Event<
  'TeamCreated',
  { teamId: string; name: string; slug: string; description: string; ownerId: string; createdAt: string }
>;
export type TeamChanged = Event<
  'TeamChanged',
  { teamId: string; changes: Readonly<{ name?: string; description?: string }>; updatedAt: string }
>;
export type TeamMemberAdded = Event<
  'TeamMemberAdded',
  { teamId: string; userId: string; role: TeamRole; addedBy: string; addedAt: string }
>;
export type TeamMemberRoleChanged = Event<
  'TeamMemberRoleChanged',
  { teamId: string; userId: string; role: TeamRole; changedAt: string }
>;
export type TeamMemberRemoved = Event<'TeamMemberRemoved', { teamId: string; userId: string; removedAt: string }>;
/** The new owner is an administrator from then on. */
export type TeamTransferred = Event<'TeamTransferred', { teamId: string; ownerId: string; transferredAt: string }>;
/** `resourceName` is the name of the resource at that time, for the notification. */
export type TeamGrantMade = Event<'TeamGrantMade', { teamId: string; grant: TeamGrant; resourceName?: string }>;
export type TeamGrantChanged = Event<
  'TeamGrantChanged',
  { teamId: string; grantId: string; level: GrantLevel; changedAt: string }
>;
export type TeamGrantEnded = Event<
  'TeamGrantEnded',
  { teamId: string; grantId: string; family: Family; resourceId: string; reason: GrantEnd; endedAt: string }
>;
export type TeamDeleted = Event<'TeamDeleted', { teamId: string; deletedAt: string }>;

export type TeamEvent =
  | TeamCreated
  | TeamChanged
  | TeamMemberAdded
  | TeamMemberRoleChanged
  | TeamMemberRemoved
  | TeamTransferred
  | TeamGrantMade
  | TeamGrantChanged
  | TeamGrantEnded
  | TeamDeleted;

export const teamStream = (teamId: string): string => `team-${teamId}`;
