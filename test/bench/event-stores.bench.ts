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
import { type MeasuredService, startService } from './measured-service.js';
import { microsNow, startProgram } from './program.js';
import { rawCommits } from './raw-commits.js';
import { type Bench, type Figure, interleaved, median, quantile, ratioOf, warmUp } from './report.js';
import { postStream, read } from './token-reader.js';

const FIRST_FRAME_ROUNDS = 200;
const AT_ONCE = 16;
const TURNS = 240;
const TURNS_ROUNDS = 3;
const QUESTION = 'paced 20 tokens 1 ms';
const REBUILT_EVENTS = 20_000;
const REBUILD_ROUNDS = 3;
const COPIED_AT_ONCE = 50;
const RAW_COMMITS = 200;
const isReal = process.env['TEST_EVENTSTOREDB_COMMAND'] !== undefined;

/**
 * A real server if one is named, else the double in a separate process, which commits as fast as the disk of the embedded store.
 */
async function startEventStoreDb(commitMs: number): Promise<{ connectionString: string; stop: () => Promise<void> }> {
  if (isReal) {
    const { connectionString, close } = await eventStoreDbForTest();
    return { connectionString, stop: close };
  }
  const { url, stop } = await startProgram('eventstoredb-double', String(commitMs));
  return { connectionString: url, stop };
}

async function commitMsOf(service: MeasuredService): Promise<number> {
  const raw = await rawCommits(service);
  const { commit } = await interleaved(RAW_COMMITS, { commit: () => raw.commit() });
  await raw.close();
  return median(commit);
}

type Measured = Readonly<Record<'eventStoreDb' | 'embedded', readonly number[]>>;

/** The time until the first frame of an answer, in milliseconds. The frame is in the log by then. */
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

/** Copies everything from one store into another, stream by stream. */
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

async function rebuildSeconds(sql: Sql, store: EventStore): Promise<number> {
  await dropSchema(sql, schemaOf(conversations));
  const setting = { timing: systemTiming, signal: new AbortController().signal, onProgress: () => undefined };
  const { seconds, events } = await Rebuild.run(sql, store, conversations, setting);
  if (events !== REBUILT_EVENTS) throw new Error(`${events} of ${REBUILT_EVENTS} events were applied.`);
  return seconds;
}

/** Rebuilds one read model in turns from the same log of conversations in both stores. */
async function rebuilds(connectionString: string): Promise<Measured> {
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
      eventStoreDb: () => rebuildSeconds(sql, eventStoreDb),
      embedded: () => rebuildSeconds(sql, embedded),
    });
  } finally {
    await Promise.all([embedded.close(), eventStoreDb.close()]);
    await sql.end({ timeout: 5 });
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The cost of the engine: the service over EventStoreDB compared with the service over its embedded store, in turns. */
export const bench: Bench = {
  name: 'event-stores',
  title: 'EventStoreDB against the embedded store: first frame, turns, rebuild',
  async run(context) {
    const model = await startProgram('paced-model');
    const settings = { OPENAI_BASE_URL: `${model.url}/v1` };
    const embedded = await startService(context, settings);
    const commitMs = await commitMsOf(embedded);
    const [forTurns, forRebuilds] = [await startEventStoreDb(commitMs), await startEventStoreDb(commitMs)];
    const eventStoreDb = await startService(context, { ...settings, EVENT_STORE: forTurns.connectionString });
    const firstFrame = {
      eventStoreDb: () => firstFrameMs(eventStoreDb.url),
      embedded: () => firstFrameMs(embedded.url),
    };
    await warmUp(firstFrame);
    const frames = await interleaved(FIRST_FRAME_ROUNDS, firstFrame);
    const together = {
      eventStoreDb: () => turnsPerSecond(eventStoreDb.url),
      embedded: () => turnsPerSecond(embedded.url),
    };
    await warmUp(together);
    const turns = await interleaved(TURNS_ROUNDS, together);
    await Promise.all([embedded.stop(), eventStoreDb.stop(), model.stop()]);
    const rebuilt = await rebuilds(forRebuilds.connectionString);
    await Promise.all([forTurns.stop(), forRebuilds.stop()]);
    const figures = (name: string, unit: string, values: Measured, target: NonNullable<Figure['target']>): Figure[] => [
      { name, unit, value: median(values.eventStoreDb), baseline: { name: 'embedded', value: median(values.embedded) } },
      { name: `${name}: times the embedded store`, unit: '×', value: ratioOf(values.eventStoreDb, values.embedded), target },
    ];
    const p99 = (values: readonly number[]) => quantile(values, 0.99);
    return {
      figures: [
        ...figures('first frame, median', 'ms', frames, { atMost: 1.3 }),
        {
          name: 'first frame, p99',
          unit: 'ms',
          value: p99(frames.eventStoreDb),
          baseline: { name: 'embedded', value: p99(frames.embedded) },
        },
        ...figures(`turns, ${AT_ONCE} at once`, 'turns/s', turns, { atLeast: 0.8 }),
        ...figures(`rebuild of conversations, ${REBUILT_EVENTS} events`, 's', rebuilt, { atMost: 1.3 }),
      ],
      notes: [
        isReal
          ? 'EventStoreDB: the server that TEST_EVENTSTOREDB_COMMAND starts, on this machine beside everything else.'
          : `EventStoreDB: the double, which commits within ${commitMs.toFixed(1)} ms like the embedded store. Its speed says nothing about a real server, which TEST_EVENTSTOREDB_COMMAND names.`,
      ],
    };
  },
};
