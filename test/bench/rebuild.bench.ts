import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { auditLog } from '../../projections/audit-log/audit-log.projection.js';
import { conversations } from '../../projections/conversations/conversations.projection.js';
import { type Projection, schemaOf } from '../../projections/projection.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { openDatabase } from '../../src/platform/postgres/database.js';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.js';
import { Rebuild } from '../../src/platform/projections/rebuild.js';
import { dropSchema } from '../../src/platform/projections/schema.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { EVENTS_PER_CONVERSATION, fillWithConversations } from '../support/conversation-log.js';
import { type Bench, type Figure, median } from './report.js';

/** The numbers of events. The second should take ten times as long as the first. */
const SIZES = (process.env.BENCH_REBUILD_EVENTS ?? '100000,1000000').split(',').map(Number);

/** The number of rounds, of which the median counts. A single short rebuild is easily disturbed by other work of the machine. */
const roundsOf = (events: number): number => (events < 500_000 ? 3 : 1);

const CASES: readonly Readonly<{ projection: Projection; what: string; atLeast: number }>[] = [
  { projection: auditLog, what: 'insert-only (audit-log)', atLeast: 20_000 },
  { projection: conversations, what: 'conversations', atLeast: 8_000 },
];

/** The seconds to fill, index and activate a read model of the whole log. There are no live rows to compare with. */
async function rebuild(
  sql: Sql,
  store: PostgresEventStore,
  projection: Projection,
): Promise<{ seconds: number; events: number }> {
  const { seconds, events, parked } = await Rebuild.run(sql, store, projection, {
    timing: systemTiming,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  if (parked.length > 0) throw new Error(`${projection.name} parked ${parked.length} entities: ${parked[0]!.error}`);
  return { seconds, events };
}

/** The seconds in which Postgres itself fills the same tables, with the same indexes, from files that it wrote before. */
async function copyOf(sql: Sql, schema: string): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-bench-copy-'));
  // The server may run as another user.
  chmodSync(directory, 0o777);
  const tables = await sql<{ name: string }[]>`select tablename as name from pg_tables where schemaname = ${schema}`;
  let seconds = 0;
  await sql.unsafe('create schema copied');
  for (const { name } of tables) {
    const file = join(directory, name);
    await sql.unsafe(`create table copied."${name}" (like "${schema}"."${name}" including all)`);
    await sql.unsafe(`copy "${schema}"."${name}" to '${file}'`);
    const begunAt = performance.now();
    await sql.unsafe(`copy copied."${name}" from '${file}'`);
    seconds += (performance.now() - begunAt) / 1000;
  }
  await sql.unsafe('drop schema copied cascade');
  rmSync(directory, { recursive: true, force: true });
  return seconds;
}

async function withLog<T>(events: number, run: (sql: Sql, store: PostgresEventStore) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const server = await startEmbeddedPostgres({ dataDir });
  const sql = openDatabase({ url: server.url, name: 'bench', statementTimeoutMs: 0 });
  const store = new PostgresEventStore({ url: server.url });
  try {
    await store.start();
    await fillWithConversations(sql, events / EVENTS_PER_CONVERSATION);
    await sql`checkpoint`.catch(() => undefined);
    return await run(sql, store);
  } finally {
    await store.close();
    await sql.end({ timeout: 5 });
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The speed of a rebuild from the log, and whether a log ten times as long takes ten times as long. */
export const bench: Bench = {
  name: 'rebuild',
  title: 'Rebuild: read models made from the log in Postgres, in a shadow schema, with their indexes',
  async run({ say }) {
    const measured: { events: number; seconds: Record<string, number>; copied: Record<string, number> }[] = [];
    for (const size of SIZES) {
      say(`writing ${size} events`);
      const taken = await withLog(size, async (sql, store) => {
        const seconds: Record<string, number> = {};
        const copied: Record<string, number> = {};
        for (const { projection } of CASES) {
          const rounds: number[] = [];
          for (let round = 0; round < roundsOf(size); round++) {
            await dropSchema(sql, schemaOf(projection));
            const outcome = await rebuild(sql, store, projection);
            if (outcome.events !== size) throw new Error(`${projection.name} applied ${outcome.events} of ${size} events.`);
            rounds.push(outcome.seconds);
          }
          seconds[projection.name] = median(rounds);
          copied[projection.name] = await copyOf(sql, schemaOf(projection));
          say(`${projection.name}: ${size} events in ${rounds.map((seconds) => seconds.toFixed(1)).join(', ')} s`);
        }
        return { seconds, copied };
      });
      measured.push({ events: size, ...taken });
    }
    const figures = CASES.flatMap(({ projection: { name }, what, atLeast }): Figure[] => {
      const rates = measured.map(({ events, seconds }) => events / seconds[name]!);
      const each = measured.flatMap(({ events, seconds, copied }, index): Figure[] => [
        { name: `${what}, ${events} events`, value: rates[index]!, unit: 'events/s', target: { atLeast } },
        {
          name: `${what}, ${events} events: times COPY of the same rows`,
          value: copied[name]! / seconds[name]!,
          unit: '×',
          target: { atLeast: 0.35 },
        },
      ]);
      if (measured.length < 2) return each;
      const slowdown: Figure = {
        name: `${what}, time per event`,
        value: rates[0]! / rates.at(-1)!,
        unit: '× of the shorter log',
        target: { atMost: 1.3 },
      };
      return [...each, slowdown];
    });
    return { figures, notes: ['Each event is about 1 KB: conversations of two turns, fifty interleaved.'] };
  },
};
