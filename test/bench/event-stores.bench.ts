import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { conversations } from '../../projections/conversations/conversations.projection.js';
import { schemaOf } from '../../projections/projection.js';
import type { EventStore, NewEvent } from '../../src/kernel/event-sourcing/event-store.js';
import { EventStoreDbEventStore } from '../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { openDatabase } from '../../src/platform/postgres/database.js';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.js';
import { Rebuild } from '../../src/platform/projections/rebuild.js';
import { dropSchema } from '../../src/platform/projections/schema.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { appendSurely } from '../support/append-surely.js';
import { EVENTS_PER_CONVERSATION, fillWithConversations } from '../support/conversation-log.js';
import { eventStoreDbForTest } from '../support/eventstoredb-for-tests.js';
import { startService } from './measured-service.js';
import { microsNow, startProgram } from './program.js';
import { type Bench, interleaved, median, quantile } from './report.js';
import { postStream, read } from './token-reader.js';

const WARM_UP_ROUNDS = 30;
const FIRST_FRAME_ROUNDS = 200;
const AT_ONCE = 16;
const TURNS = 240;
const TURNS_ROUNDS = 3;
const QUESTION = 'paced 20 tokens 1 ms';
const REBUILT_EVENTS = 20_000;
const REBUILD_ROUNDS = 3;
const COPIED_AT_ONCE = 50;

/** How long, in ms, until the first frame of an answer is there, which is in the log by then. */
async function firstFrameMs(url: string): Promise<number> {
  const askedAt = microsNow();
  let came = 0;
  await read(...postStream(url, QUESTION), { onText: () => void (came ||= microsNow()) });
  return (came - askedAt) / 1000;
}

async function turnsPerSecond(url: string): Promise<number> {
  const since = performance.now();
  let left = TURNS;
  const asker = async (): Promise<void> => {
    while (left-- > 0) await read(...postStream(url, QUESTION), {});
  };
  await Promise.all(Array.from({ length: AT_ONCE }, asker));
  return (1000 * TURNS) / (performance.now() - since);
}

/** Writes what one store has into another, stream by stream. */
async function copy(from: EventStore, to: EventStore): Promise<void> {
  const streams = new Map<string, NewEvent[]>();
  for await (const { events } of from.readAll({ after: -1n })) {
    for (const { stream, id, type, data, metadata } of events)
      streams.set(stream, [...(streams.get(stream) ?? []), { id, type, data, metadata }]);
  }
  const left = [...streams];
  const copier = async (): Promise<void> => {
    for (let next = left.pop(); next; next = left.pop()) await appendSurely(to, next[0], 'none', next[1]);
  };
  await Promise.all(Array.from({ length: COPIED_AT_ONCE }, copier));
}

async function rebuiltPerSecond(sql: Sql, store: EventStore): Promise<number> {
  await dropSchema(sql, schemaOf(conversations));
  const setting = { timing: systemTiming, signal: new AbortController().signal, onProgress: () => undefined };
  const { seconds, events } = await Rebuild.run(sql, store, conversations, setting);
  if (events !== REBUILT_EVENTS) throw new Error(`${events} of ${REBUILT_EVENTS} events were applied.`);
  return events / seconds;
}

/** The same log of conversations in both stores, and one read model made from each in turns. */
async function rebuilds(connectionString: string): Promise<Record<'eventStoreDb' | 'embedded', number[]>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'verbatim-bench-'));
  const server = await startEmbeddedPostgres({ dataDir });
  const sql = openDatabase({ url: server.url, name: 'bench', statementTimeoutMs: 0 });
  const embedded = new PostgresEventStore({ url: server.url });
  const eventStoreDb = new EventStoreDbEventStore({ connectionString });
  try {
    await embedded.start();
    await fillWithConversations(sql, REBUILT_EVENTS / EVENTS_PER_CONVERSATION);
    await copy(embedded, eventStoreDb);
    return await interleaved(REBUILD_ROUNDS, {
      eventStoreDb: () => rebuiltPerSecond(sql, eventStoreDb),
      embedded: () => rebuiltPerSecond(sql, embedded),
    });
  } finally {
    await Promise.all([embedded.close(), eventStoreDb.close()]);
    await sql.end({ timeout: 5 });
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** What the engine costs: the service over EventStoreDB against the service over its embedded store, in turns. */
export const bench: Bench = {
  name: 'event-stores',
  title: 'EventStoreDB against the embedded store: first frame, turns, rebuild',
  async run(context) {
    const model = await startProgram('paced-model');
    const [forTurns, forRebuilds] = [await eventStoreDbForTest(), await eventStoreDbForTest()];
    const settings = { OPENAI_BASE_URL: `${model.url}/v1` };
    const embedded = await startService(context, settings);
    const eventStoreDb = await startService(context, { ...settings, EVENT_STORE: forTurns.connectionString });
    const firstFrame = {
      eventStoreDb: () => firstFrameMs(eventStoreDb.url),
      embedded: () => firstFrameMs(embedded.url),
    };
    await interleaved(WARM_UP_ROUNDS, firstFrame);
    const frames = await interleaved(FIRST_FRAME_ROUNDS, firstFrame);
    const turns = await interleaved(TURNS_ROUNDS, {
      eventStoreDb: () => turnsPerSecond(eventStoreDb.url),
      embedded: () => turnsPerSecond(embedded.url),
    });
    await Promise.all([embedded.stop(), eventStoreDb.stop(), model.stop()]);
    const rebuilt = await rebuilds(forRebuilds.connectionString);
    await Promise.all([forTurns.close(), forRebuilds.close()]);
    const figure = (name: string, unit: string, of: (values: readonly number[]) => number, measured: typeof frames) => ({
      name,
      unit,
      value: of(measured.eventStoreDb),
      baseline: { name: 'embedded', value: of(measured.embedded) },
    });
    const isReal = process.env['TEST_EVENTSTOREDB_COMMAND'] !== undefined;
    return {
      figures: [
        figure('first frame, median', 'ms', median, frames),
        figure('first frame, p99', 'ms', (values) => quantile(values, 0.99), frames),
        figure(`turns, ${AT_ONCE} at once`, 'turns/s', median, turns),
        figure('rebuild of conversations', 'events/s', median, rebuilt),
      ],
      notes: [
        isReal
          ? 'EventStoreDB: the server that TEST_EVENTSTOREDB_COMMAND starts, on this machine beside everything else.'
          : 'EventStoreDB: the double, whose speed says nothing of a real server. TEST_EVENTSTOREDB_COMMAND names one.',
      ],
    };
  },
};
