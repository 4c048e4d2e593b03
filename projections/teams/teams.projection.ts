import { resourceSettingsCodec } from '../../src/resources/sharing/resource-settings.codec.js';
import type { ResourceSettingsChanged } from '../../src/resources/sharing/resource-settings.events.js';
import { teamCodec } from '../../src/resources/identity/teams/team.codec.js';
import type { TeamEvent } from '../../src/resources/identity/teams/team.events.js';
import { changeIn, defineProjection, insertInto, removeFrom } from '../projection.js';
import { asText } from '../text.js';

/** The teams, their members, the grants of resources to them, and the settings of shared resources that their owners switched. */
export const teams = defineProjection<TeamEvent | ResourceSettingsChanged>({
  name: 'teams',
  categories: ['team', 'resourceSettings'],
  codec: { ...teamCodec, ...resourceSettingsCodec },
  ddl: new URL('./teams.sql', import.meta.url),

  on: {
    TeamCreated: ({ data: { teamId, name, slug, description, ownerId, createdAt } }) => [
      insertInto('team', {
        team_id: teamId,
        name: asText(name),
        slug,
        description: asText(description),
        owner_id: ownerId,
        created_at: createdAt,
        updated_at: createdAt,
      }),
      insertInto('member', {
        team_id: teamId,
        user_id: ownerId,
        role: 'team_admin',
        granted_by: ownerId,
        granted_at: createdAt,
      }),
    ],
    TeamChanged: ({ data: { teamId, changes, updatedAt } }) =>
      changeIn(
        'team',
        { team_id: teamId },
        {
          ...(changes.name !== undefined && { name: asText(changes.name) }),
          ...(changes.description !== undefined && { description: asText(changes.description) }),
          updated_at: updatedAt,
        },
      ),
    TeamMemberAdded: ({ data: { teamId, userId, role, addedBy, addedAt } }) =>
      insertInto('member', { team_id: teamId, user_id: userId, role, granted_by: addedBy, granted_at: addedAt }),
    TeamMemberRoleChanged: ({ data: { teamId, userId, role } }) =>
      changeIn('member', { team_id: teamId, user_id: userId }, { role }),
    TeamMemberRemoved: ({ data: { teamId, userId } }) => removeFrom('member', { team_id: teamId, user_id: userId }),
    TeamTransferred: ({ data: { teamId, ownerId, transferredAt } }) => [
      changeIn('team', { team_id: teamId }, { owner_id: ownerId, updated_at: transferredAt }),
      changeIn('member', { team_id: teamId, user_id: ownerId }, { role: 'team_admin' }),
    ],
    TeamGrantMade: ({ data: { teamId, grant } }) =>
      insertInto('team_grant', {
        grant_id: grant.id,
        team_id: teamId,
        family: grant.family,
        resource_id: grant.resourceId,
        owner_id: grant.ownerId,
        level: grant.level,
        target_user_id: grant.targetUserId,
        granted_by: grant.grantedBy,
        created_at: grant.grantedAt,
      }),
    TeamGrantChanged: ({ data: { grantId, level } }) => changeIn('team_grant', { grant_id: grantId }, { level }),
    TeamGrantEnded: ({ data: { grantId } }) => removeFrom('team_grant', { grant_id: grantId }),
    TeamDeleted: ({ data: { teamId } }, sql) => [
      removeFrom('team', { team_id: teamId }),
      sql`delete from member where team_id = ${teamId}`,
    ],
    ResourceSettingsChanged: ({ data: { family, resourceId, switches } }, sql) =>
      Object.entries(switches).map(
        ([name, value]) => sql`
          insert into resource_switch (family, resource_id, name, value) values (${family}, ${resourceId}, ${name}, ${value})
          on conflict (family, resource_id, name) do update set value = excluded.value`,
      ),
  },
});
