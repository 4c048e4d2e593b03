import type { Family } from '../../src/kernel/access.js';
import { type Grant, wider } from '../../src/resources/identity/grants.policy.js';
import type { GrantLevel, TeamRole } from '../../src/resources/identity/teams/team.events.js';
import { Queries } from '../read-models.js';

export type TeamRecord = Readonly<{
  id: string;
  name: string;
  slug: string;
  description: string;
  ownerId: string;
  createdAt: Date;
  updatedAt: Date;
}>;

/** A team in a list, with the role of the user who lists it. */
export type ListedTeam = TeamRecord & Readonly<{ role: TeamRole | null; members: number; grants: number }>;

/** A part of a list: up to `limit` items, those after the last item of the previous page. */
export type TeamPage = Readonly<{ limit?: number | undefined; after?: Date | undefined; afterId?: string | undefined }>;

export type MemberRecord = Readonly<{ userId: string; role: TeamRole; grantedBy: string; grantedAt: Date }>;

export type GrantRecord = Readonly<{
  id: string;
  teamId: string;
  family: Family;
  resourceId: string;
  ownerId: string;
  level: GrantLevel;
  targetUserId: string | null;
  grantedBy: string;
  createdAt: Date;
}>;

/** A grant of a resource, with the team that holds it. */
export type ShareRecord = GrantRecord & Readonly<{ teamName: string; teamSlug: string }>;

export class TeamQueries extends Queries {
  async byId(teamId: string): Promise<TeamRecord | undefined> {
    const [row] = await this.sql<TeamRecord[]>`select ${this.teamColumns} from teams.team where team_id = ${teamId}`;
    return row;
  }

  /** The teams that a user is a member of, oldest first. */
  ofMember(userId: string): Promise<readonly ListedTeam[]> {
    return this.listed(userId, this.sql`member.user_id is not null`);
  }

  /** All teams or a page of them, oldest first, with the role that a user has in each. */
  all(userId: string, { limit, after, afterId = '' }: TeamPage = {}): Promise<readonly ListedTeam[]> {
    return this.listed(userId, after ? this.sql`(created_at, team_id) > (${after}, ${afterId})` : this.sql`true`, limit);
  }

  private async listed(userId: string, which: ReturnType<typeof this.sql>, limit?: number): Promise<readonly ListedTeam[]> {
    return this.sql<ListedTeam[]>`
      select ${this.teamColumns}, member.role,
        (select count(*)::integer from teams.member each where each.team_id = team.team_id) as members,
        (select count(*)::integer from teams.team_grant each where each.team_id = team.team_id) as grants
      from teams.team left join (select * from teams.member where user_id = ${userId}) as member using (team_id)
      where ${which} order by team.created_at, team.team_id ${limit === undefined ? this.sql`` : this.sql`limit ${limit}`}`;
  }

  /** The members of a team, in the order in which they joined. */
  async membersOf(teamId: string): Promise<readonly MemberRecord[]> {
    return this.sql<MemberRecord[]>`
      select user_id as "userId", role, granted_by as "grantedBy", granted_at as "grantedAt"
      from teams.member where team_id = ${teamId} order by granted_at, user_id`;
  }

  async roleOf(teamId: string, userId: string): Promise<TeamRole | undefined> {
    const rows = await this.sql`select role from teams.member where team_id = ${teamId} and user_id = ${userId}`;
    return rows[0]?.['role'] as TeamRole | undefined;
  }

  /** The grants that a team holds, all or those of one family, oldest first. */
  async grantsOf(teamId: string, family?: Family): Promise<readonly GrantRecord[]> {
    const among = family ? this.sql`and family = ${family}` : this.sql``;
    return this.sql<GrantRecord[]>`
      select ${this.grantColumns} from teams.team_grant where team_id = ${teamId} ${among} order by created_at, grant_id`;
  }

  /** The grants of a resource, oldest first. */
  async sharesOf(family: Family, resourceId: string): Promise<readonly ShareRecord[]> {
    return this.sql<ShareRecord[]>`
      select ${this.grantColumns}, "teamName", "teamSlug" from teams.team_grant
      join (select team_id, name as "teamName", slug as "teamSlug" from teams.team) as team using (team_id)
      where family = ${family} and resource_id = ${resourceId} order by team_grant.created_at, grant_id`;
  }

  /** The switches that the owner of a resource has set. */
  async switchesOf(family: Family, resourceId: string): Promise<Readonly<Record<string, boolean>>> {
    const rows = await this.sql`
      select name, value from teams.resource_switch where family = ${family} and resource_id = ${resourceId}`;
    return Object.fromEntries(rows.map((row) => [row['name'] as string, row['value'] as boolean]));
  }

  /** The grants that a user has through teams by resource id, for all resources of a family or for these. */
  async heldBy(userId: string, family: Family, ids?: readonly string[]): Promise<ReadonlyMap<string, Grant>> {
    if (ids?.length === 0) return new Map();
    const among = ids ? this.sql`and resource_id = any (${ids as string[]}::text[])` : this.sql``;
    const rows = await this.sql`
      select resource_id, level, coalesce((
          select jsonb_object_agg(name, value) from teams.resource_switch each
          where each.family = team_grant.family and each.resource_id = team_grant.resource_id), '{}') as switches
      from teams.team_grant join teams.member using (team_id)
      where user_id = ${userId} and family = ${family} and (target_user_id is null or target_user_id = user_id)
        and owner_id <> user_id ${among}`;
    const held = new Map<string, Grant>();
    for (const row of rows) {
      const id = row['resource_id'] as string;
      held.set(id, wider(held.get(id), { level: row['level'] as GrantLevel, switches: row['switches'] as Grant['switches'] }));
    }
    return held;
  }

  private get teamColumns() {
    return this.sql`team_id as id, name, slug, description, owner_id as "ownerId", created_at as "createdAt",
      updated_at as "updatedAt"`;
  }

  private get grantColumns() {
    return this.sql`grant_id as id, team_id as "teamId", family, resource_id as "resourceId", owner_id as "ownerId", level,
      target_user_id as "targetUserId", granted_by as "grantedBy", created_at as "createdAt"`;
  }
}
