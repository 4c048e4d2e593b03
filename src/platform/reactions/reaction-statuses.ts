import type { Sql } from 'postgres';
import { hasTable } from '../postgres/catalog.js';
import type { FollowerStatus } from '../supervision/follower-status.js';

/** The status of every reaction that has ever run. */
export async function reactionStatuses(sql: Sql): Promise<readonly FollowerStatus[]> {
  if (!(await hasTable(sql, 'reactions', 'parked'))) return [];
  const rows = await sql<{ name: string; position: string; parked: number }[]>`
    select reaction as name, position::text,
      (select count(*)::integer from reactions.parked where parked.reaction = reaction_checkpoint.reaction) as parked
    from reactions.reaction_checkpoint order by reaction`;
  return rows.map(({ name, position, parked }) => ({
    name,
    position: BigInt(position),
    parked,
    held: 0,
  }));
}
