import type { ListedTeam, MemberRecord, TeamRecord } from '../../../../projections/teams/teams.queries.js';

export const teamRecord = ({ id, name, slug, description, ownerId, createdAt, updatedAt }: TeamRecord) => ({
  id,
  name,
  slug,
  description,
  owner_id: ownerId,
  created_at: createdAt.toISOString(),
  updated_at: updatedAt.toISOString(),
});

export const listedTeam = (team: ListedTeam) => ({
  ...teamRecord(team),
  member_role: team.role,
  member_count: team.members,
  shared_count: team.grants,
});

/** `source` is always `manual`, because no identity provider adds members. */
export const memberRecord = ({ userId, role, grantedBy, grantedAt }: MemberRecord, email: string | null) => ({
  user_id: userId,
  role,
  source: 'manual',
  granted_by: grantedBy,
  granted_at: grantedAt.toISOString(),
  email,
});
