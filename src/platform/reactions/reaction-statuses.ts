import type { Sql } from 'postgres';
import { hasTable } from '../postgres/catalog.js';
import type { FollowerStatus } from '../supervision/follower-status.js';

/** The status of every reaction that has ever run. */
export async function reactionStatuses(sql: Sql): Promise<readonly FollowerStatus[]> {
  if (!(await hasTable(sql, 'reactions', 'parked'))) return [];
  const rows = await sql<{ name: string; position: string; event_at: Date | null; parked: number }[]>`
    select reaction as name, position::text, event_at,
      (select count(*)::integer from reactions.parked where parked.reaction = reaction_checkpoint.reaction) as parked
    from reactions.reaction_checkpoint order by reaction`;
  return rows.map(({ name, position, event_at, parked }) => ({
    name,
    position: BigInt(position),
    eventAt: event_at,
    parked,
    held: 0,
  }));
}
