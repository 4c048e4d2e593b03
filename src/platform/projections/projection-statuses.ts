import type { Sql } from 'postgres';
import { type Projection, schemaOf } from '../../../projections/projection.js';
import { schemasWith } from '../postgres/catalog.js';
import { unionOf } from '../postgres/union.js';
import type { FollowerStatus } from '../supervision/follower-status.js';
import { partsPlayed } from '../supervision/leadership.js';
import { DefinitionChanged, definitionOf } from './definition.js';
import { writerOf } from './projection-runner.js';

/** The status of a projection, and whether any process writes it. */
export type ProjectionStatus = FollowerStatus & Readonly<{ hasWriter: boolean }>;

type Row = { name: string; position: string; fingerprint: string; parked: number; held: number };

/** The position of each projection's live rows. A projection without tables has not started yet. */
export async function projectionStatuses(sql: Sql, projections: readonly Projection[]): Promise<readonly ProjectionStatus[]> {
  const there = await schemasWith(sql, projections.map(schemaOf), 'checkpoint');
  const present = projections.filter((projection) => there.has(schemaOf(projection)));
  const rows = new Map((await read(sql, present)).map((row) => [row.name, row]));
  const written = await partsPlayed(
    sql,
    projections.map(({ name }) => writerOf(name)),
  );
  return Promise.all(
    projections.map(async (projection) => {
      const { name } = projection;
      const hasWriter = written.has(writerOf(name));
      const row = rows.get(name);
      if (!row) return { name, position: undefined, parked: 0, held: 0, hasWriter };
      const { position, fingerprint, parked, held } = row;
      const isOurs = fingerprint === (await definitionOf(projection)).fingerprint;
      return {
        name,
        position: BigInt(position),
        parked,
        held,
        hasWriter,
        ...(!isOurs && { problem: new DefinitionChanged(name).message }),
      };
    }),
  );
}

/** Reads all schemas with one statement. */
async function read(sql: Sql, projections: readonly Projection[]): Promise<readonly Row[]> {
  if (projections.length === 0) return [];
  const selects = projections.map((projection) => {
    const schema = sql(schemaOf(projection));
    return sql`select ${projection.name}::text as name, position::text, fingerprint,
      (select count(*)::integer from ${schema}.parked) as parked, (select count(*)::integer from ${schema}.held) as held
      from ${schema}.checkpoint`;
  });
  return sql<Row[]>`${unionOf(sql, selects)}`;
}
