import { type Notification, notificationRule } from '../../../kernel/event-sourcing/notifications.js';
import { teamCodec } from './team.codec.js';
import { type Team, team } from './team.decider.js';
import type { TeamGrantMade, TeamMemberAdded } from './team.events.js';

/** A user was added to a team. */
type MemberAdded = Notification<'team.member_added', 'team', { team_id: string; team_name: string; role: string }>;

/** Something was shared with the user, or with a team of the user's. */
type ResourceShared = Notification<
  'resource.shared',
  'team',
  { team_id: string; team_name: string; resource_type: string; resource_id: string; access_level: string }
>;

export type TeamNotification = MemberAdded | ResourceShared;

/** Teams whose state is cached between two events. */
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
  const scope = { kind: 'team', id } as const;
  const about = { team_id: id, team_name: name };
  if (type === 'TeamMemberAdded') return { type: 'team.member_added', scope, payload: { ...about, role: data.role } };
  const { family, resourceId, level } = data.grant;
  const resource = { resource_type: family.slice(0, -1), resource_id: resourceId, access_level: level };
  return { type: 'resource.shared', scope, payload: { ...about, ...resource } };
}
