import type { GrantRecord } from '../../../projections/teams/teams.queries.js';
import type { Family } from '../../kernel/access.js';
import type { ResourceType } from './sharing.dto.js';

export const familyOf = (type: ResourceType): Family => `${type}s`;

const typeOf = (family: Family): string => family.slice(0, -1);

export const grantRecord = (
  { id, teamId, family, resourceId, ...grant }: Omit<GrantRecord, 'createdAt'>,
  createdAt: Date | string,
) => ({
  id,
  team_id: teamId,
  resource_type: typeOf(family),
  resource_id: resourceId,
  owner_id: grant.ownerId,
  access_level: grant.level,
  target_user_id: grant.targetUserId,
  granted_by: grant.grantedBy,
  created_at: new Date(createdAt).toISOString(),
});
