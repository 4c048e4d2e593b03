import { type Notification, notificationRule } from '../../../kernel/event-sourcing/notifications.js';
import { teamCodec } from './team.codec.js';
import { type Team, team } from './team.decider.js';
import type { TeamGrantMade, TeamMemberAdded } from './team.events.js';

/** A user was added to a team. */
type MemberAdded = Notification<
  'team.member_added',
  'team',
  { team_id: string; team_name: string; role: string; added_by: string }
>;

/** A resource was shared with the user, or with a team of the user. */
type ResourceShared = Notification<
  'resource.shared',
  'resource',
  {
    resource_type: string;
    resource_id: string;
    resource_name: string;
    access_level: string;
    team_id: string;
    team_name: string;
    shared_by: string;
  }
>;

export type TeamNotification = MemberAdded | ResourceShared;

/** Maximum number of teams whose state is cached between two events. */
const CACHED_MAX = 1_000;

export const teamNotifications = [
  notificationRule({
    category: 'team',
    codec: teamCodec,
    about: ['TeamMemberAdded', 'TeamGrantMade'],
    initial: team.initial,
    evolve: team.evolve,
    cachedMax: CACHED_MAX,
    ownerOf: ({ members }, { type, data }) => {
      if (type === 'TeamMemberAdded') return [data.userId];
      const { targetUserId, grantedBy } = data.grant;
      return targetUserId === null ? [...members.keys()].filter((userId) => userId !== grantedBy) : [targetUserId];
    },
    noticesOf: (event, _before, after) => [{ notification: notificationOf(event, after) }],
  }),
];

function notificationOf({ type, data }: TeamMemberAdded | TeamGrantMade, { id, name }: Team): TeamNotification {
  const about = { team_id: id, team_name: name };
  if (type === 'TeamMemberAdded') {
    const { role, addedBy } = data;
    return { type: 'team.member_added', scope: { kind: 'team', id }, payload: { ...about, role, added_by: addedBy } };
  }
  const { family, resourceId, level, grantedBy } = data.grant;
  const thing = { resource_type: family.slice(0, -1), resource_id: resourceId, resource_name: data.resourceName ?? '' };
  return {
    type: 'resource.shared',
    scope: { kind: 'resource', id: resourceId },
    payload: { ...thing, access_level: level, ...about, shared_by: grantedBy },
  };
}
