import type { Sql } from 'postgres';
import { projections } from '../../projections/catalogue.js';
import { schemaOf } from '../../projections/projection.js';
import { LOG_START } from '../kernel/event-sourcing/event-store.js';
import { hasTable, schemasWith } from '../platform/postgres/catalog.js';
import { unionOf } from '../platform/postgres/union.js';

/** The furthest place in the log that any read model or reaction has stored; LOG_START before the first. */
export async function furthestPlace(sql: Sql): Promise<bigint> {
  const [schemas, hasReactions] = await Promise.all([
    schemasWith(sql, projections.map(schemaOf), 'checkpoint'),
    hasTable(sql, 'reactions', 'reaction_checkpoint'),
  ]);
  const places = [...schemas].map((schema) => sql`select position from ${sql(schema)}.checkpoint`);
  if (hasReactions) places.push(sql`select max(position) from reactions.reaction_checkpoint`);
  if (places.length === 0) return LOG_START;
  const [row] = await sql<{ furthest: string | null }[]>`
    select max(position)::text as furthest from (${unionOf(sql, places)}) as stored (position)`;
  return row!.furthest === null ? LOG_START : BigInt(row!.furthest);
}
