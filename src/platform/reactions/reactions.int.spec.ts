import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { append } from '../../../test/support/accounts.js';
import { endLeaders } from '../../../test/support/end-leaders.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { LOG_ENDS_EARLIER, LogDiffers, type LogReading, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import type { Timing } from '../../kernel/timing.js';
import { Leadership } from '../supervision/leadership.js';
import { systemTiming } from '../system-timing.js';
import { askToRetry, takeBackReactions } from './reaction-tables.js';
import { CHECKPOINT_EVERY_MS, WINDOW_EVENTS_MAX } from './reaction-runner.js';
import { Reactions } from './reactions.js';

type Rang = Event<'BellRang', { times: number }>;
const rang = (times: number): Rang => ({ type: 'BellRang', data: { times } });

let database: TestDatabase;
let store: InMemoryEventStore;
let running: Reactions[];
let heard: string[];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.sql`drop schema if exists reactions cascade`;
  store = new InMemoryEventStore();
  running = [];
  heard = [];
});
afterEach(() => Promise.all(running.map((reactions) => reactions.stop())));

const listen = async ({ stream, data }: Recorded<Rang>) => void heard.push(`${stream} ${data.times}`);

function start(
  act: (event: Recorded<Rang>, signal: AbortSignal) => Promise<void> = listen,
  more: Partial<Reaction<Rang>> = {},
  log = pino({ level: 'silent' }),
  sql = database.sql,
  timing = systemTiming,
): Reactions {
  const reaction: Reaction<Rang> = {
    name: 'answer-door',
    categories: ['bell'],
    codec: { BellRang: [] },
    on: { BellRang: act },
    ...more,
  };
  const reactions = new Reactions({ sql, store, timing, log }, [reaction]);
  running.push(reactions);
  reactions.start();
  return reactions;
}

const isCheckpointAt = async (position: bigint) => {
  const [row] = await database.sql<{ position: string }[]>`select position::text from reactions.reaction_checkpoint`;
  return row?.position === String(position);
};

/** The present log, with this end. */
const endingAt = (end: bigint) => ({ end: async () => end, readAll: (reading: LogReading) => store.readAll(reading) });

/** The database, which loses its answer to a statement that contains a text: the nth one. */
function losing(text: string, nth: number): typeof database.sql {
  let count = 0;
  return new Proxy(database.sql, {
    apply(sql, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const query = Reflect.apply(sql, self, [strings, ...values]) as Promise<unknown>;
      if (!strings[0]?.includes(text) || ++count !== nth) return query;
      return query.then(() => Promise.reject(Object.assign(new Error('Lost.'), { code: 'CONNECTION_CLOSED' })));
    },
  });
}

const parkedEvents = () => database.sql`select reaction, stream, error from reactions.parked order by reaction, parked.position`;

describe('a reaction', () => {
  it('asks for the types of events on which it acts', async () => {
    const follows = jest.spyOn(store, 'followAll');
    await append(store, 'bell-a', rang(1));
    start();
    await eventually(() => heard.length === 1);
    expect(follows.mock.calls.map(([, filter]) => filter)).toEqual([{ categories: ['bell'], types: ['BellRang'] }]);
  });

  it('is aborted when its process stops, and its successor acts on the event again', async () => {
    await append(store, 'bell-a', rang(1));
    let waits = false;
    const first = start(async (_, signal) => {
      waits = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    });
    await eventually(() => waits);
    await first.stop();
    start();
    await eventually(() => heard.length > 0);
    expect(heard).toEqual(['bell-a 1']);
  });

  it('acts on each of its events, in the order of each stream, and continues from its checkpoint after a restart', async () => {
    await append(store, 'bell-a', rang(1), { type: 'BellPolished', data: {} }, rang(2));
    await append(store, 'door-a', rang(9));
    const first = start();
    const position = await append(store, 'bell-b', rang(3));
    await eventually(() => isCheckpointAt(position));
    expect(heard.filter((entry) => entry.startsWith('bell-a'))).toEqual(['bell-a 1', 'bell-a 2']);
    await first.stop();

    start();
    await append(store, 'bell-a', rang(4));
    await eventually(() => heard.includes('bell-a 4'));
    expect([...heard].sort()).toEqual(['bell-a 1', 'bell-a 2', 'bell-a 4', 'bell-b 3']);
  });

  it('begins with the next event when it is declared so', async () => {
    await append(store, 'bell-a', rang(1));
    start(listen, { begins: 'now' });
    await eventually(async () => (await database.sql`select 1 from reactions.reaction_checkpoint`).length === 1);
    await append(store, 'bell-a', rang(2));
    await eventually(() => heard.includes('bell-a 2'));
    expect(heard).toEqual(['bell-a 2']);
  });

  it('saves its checkpoint once after an event, and does not look for changes again before the next one', async () => {
    const timers: number[] = [];
    const after: Timing['after'] = (ms, ...rest) => (timers.push(ms), systemTiming.after(ms, ...rest));
    start(listen, {}, undefined, undefined, Object.assign(Object.create(systemTiming) as Timing, { after }));
    const saves = () => timers.filter((ms) => ms === CHECKPOINT_EVERY_MS).length;
    for (const times of [1, 2]) {
      const position = await append(store, 'bell-a', rang(times));
      await eventually(() => isCheckpointAt(position));
      await systemTiming.pause(5 * CHECKPOINT_EVERY_MS);
      expect(saves()).toBe(times);
    }
  });

  it('acts again after a crash on unfinished events, but not on those before the checkpoint', async () => {
    let release!: () => void;
    const released = new Promise<void>((resolve) => (release = resolve));
    let stuck = 0;
    const first = start(async (event) => {
      if (event.data.times === 2 && ++stuck === 1) await released;
      else await listen(event);
    });
    const finished = await append(store, 'bell-a', rang(1));
    await append(store, 'bell-b', rang(2));
    await append(store, 'bell-c', rang(3));
    await eventually(() => heard.length === 2 && stuck === 1);
    await eventually(() => isCheckpointAt(finished));

    // Another process takes over while the first is still acting.
    await endLeaders(database.sql);
    start();
    await eventually(() => heard.filter((entry) => entry === 'bell-c 3').length === 2);
    expect([...heard].sort()).toEqual(['bell-a 1', 'bell-b 2', 'bell-c 3', 'bell-c 3']);
    release();
    await first.stop();
  });

  it('runs in one process at a time', async () => {
    for (let n = 0; n < 3; n++) start();
    for (let n = 0; n < 30; n++) await append(store, `bell-${n}`, rang(n));
    await eventually(() => heard.length >= 30);
    expect(new Set(heard).size).toBe(30);
    expect(heard).toHaveLength(30);
  });

  it('reports no failure of its own while another process runs it', async () => {
    let hasFailed = false;
    const warnings = pino({ level: 'warn' }, { write: () => void (hasFailed = true) });
    const reactions = start(listen, {}, warnings);
    await append(store, 'bell-a', rang(1));
    await eventually(() => heard.length === 1);
    const other = new Leadership(database.sql, systemTiming);
    do await endLeaders(database.sql);
    while (!(await other.tryGain('reaction:answer-door')));
    await eventually(() => hasFailed && reactions.failureOf('answer-door') === undefined);
    await other.close();
  });

  it('waits during an outage and parks nothing', async () => {
    let tries = 0;
    start(async (event) => {
      if (++tries <= 6) throw new StoreUnavailable('away');
      await listen(event);
    });
    await append(store, 'bell-a', rang(1));
    await eventually(() => heard.length === 1);
    expect(await parkedEvents()).toEqual([]);
  });

  it('takes a bounded number of events past one that waits for a dependency', async () => {
    let isAway = true;
    start(async (event) => {
      if (event.data.times === 13 && isAway) throw new StoreUnavailable('away');
      await listen(event);
    });
    await append(store, 'bell-a', rang(13));
    const later = Array.from({ length: WINDOW_EVENTS_MAX + 200 }, (_, n) => append(store, `bell-${n}`, rang(n + 100)));
    await Promise.all(later);
    await eventually(() => heard.length >= WINDOW_EVENTS_MAX - 1);
    await systemTiming.pause(300);
    expect(heard).toHaveLength(WINDOW_EVENTS_MAX - 1);
    isAway = false;
    await eventually(() => heard.length === later.length + 1);
  });

  it('holds the events after a parked event of the same stream, and acts on them in order after a retry', async () => {
    let isUnlucky = true;
    const unlucky = async (event: Recorded<Rang>) => {
      if (isUnlucky && event.stream === 'bell-a' && event.data.times === 1) throw new Error('unlucky');
      await listen(event);
    };
    await append(store, 'bell-a', rang(1));
    await append(store, 'bell-a', rang(2));
    await append(store, 'bell-b', rang(1));
    const first = start(unlucky);
    await eventually(async () => (await parkedEvents()).length === 2);
    await first.stop();
    await append(store, 'bell-a', rang(3));
    await append(store, 'bell-b', rang(2));
    start(unlucky);
    await eventually(async () => (await parkedEvents()).length === 3);
    await eventually(() => heard.includes('bell-b 2'));
    expect(heard.filter((each) => each.startsWith('bell-a'))).toEqual([]);
    expect((await parkedEvents()).map(({ error }) => error as string)).toEqual([
      'Error: unlucky',
      expect.stringContaining('An earlier event of bell-a is parked.'),
      expect.stringContaining('An earlier event of bell-a is parked.'),
    ]);
    isUnlucky = false;
    await askToRetry(database.sql, 'answer-door');
    await append(store, 'bell-a', rang(4));
    await eventually(() => heard.includes('bell-a 4'));
    expect(heard.filter((each) => each.startsWith('bell-a'))).toEqual(['bell-a 1', 'bell-a 2', 'bell-a 3', 'bell-a 4']);
    // An event is freed after it was acted on.
    await eventually(async () => (await parkedEvents()).length === 0);
  });

  it('keeps the reason of a parked event when the event is delivered again', async () => {
    await append(store, 'bell-b', rang(1));
    const last = await append(store, 'bell-a', rang(1), rang(2));
    const act = async ({ stream }: Recorded<Rang>, signal: AbortSignal) => {
      if (stream === 'bell-a') throw new Error('unlucky');
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    };
    const first = start(act);
    await eventually(async () => (await parkedEvents()).length === 2);
    const parked = await parkedEvents();
    await first.stop();
    start();
    // The unfinished event of bell B has held the checkpoint back, so all events are delivered again.
    await eventually(() => isCheckpointAt(last));
    expect(heard).toEqual(['bell-b 1']);
    expect(await parkedEvents()).toEqual(parked);
  });

  it('parks an event that fails, continues with the others and tries it again on request', async () => {
    let broken = true;
    start(async (event) => {
      if (event.data.times === 13 && broken) throw new Error('unlucky');
      await listen(event);
    });
    await append(store, 'bell-a', rang(13));
    const position = await append(store, 'bell-b', rang(1));
    await eventually(() => isCheckpointAt(position));
    expect(await parkedEvents()).toMatchObject([{ reaction: 'answer-door', stream: 'bell-a', error: 'Error: unlucky' }]);
    broken = false;
    expect(await askToRetry(database.sql, 'answer-door')).toBe(1);
    await eventually(() => heard.includes('bell-a 13'));
    await eventually(async () => (await parkedEvents()).length === 0);
  });

  it('acts on a parked event only on request, also if the answer to its parking was lost', async () => {
    let tries = 0;
    const act = (event: Recorded<Rang>) => (++tries <= 6 ? Promise.reject(new Error('unlucky')) : listen(event));
    start(act, {}, pino({ level: 'silent' }), losing('insert into reactions.parked', 1));
    const position = await append(store, 'bell-a', rang(1));
    await eventually(() => isCheckpointAt(position));
    expect([heard, (await parkedEvents()).length]).toEqual([[], 1]);
    await askToRetry(database.sql, 'answer-door');
    await eventually(async () => (await parkedEvents()).length === 0);
    expect(heard).toEqual(['bell-a 1']);
  });

  it('acts on later events of a stream whose retry has freed its last parked event and then lost its connection', async () => {
    let isUnlucky = true;
    const act = (event: Recorded<Rang>) => (isUnlucky ? Promise.reject(new Error('unlucky')) : listen(event));
    start(act, {}, pino({ level: 'silent' }), losing('select revision, position::text from reactions.parked', 2));
    await append(store, 'bell-a', rang(1));
    await eventually(async () => (await parkedEvents()).length === 1);
    isUnlucky = false;
    await askToRetry(database.sql, 'answer-door');
    await eventually(async () => (await parkedEvents()).length === 0);
    await append(store, 'bell-a', rang(2));
    await eventually(async () => heard.includes('bell-a 2') || (await parkedEvents()).length > 0);
    expect([heard, await parkedEvents()]).toEqual([['bell-a 1', 'bell-a 2'], []]);
  });

  it('keeps no copy of a parked event, and a retry skips events that were purged meanwhile', async () => {
    let isUnlucky = true;
    await append(store, 'bell-a', rang(123456), rang(2), rang(3));
    start(async (event) => {
      if (isUnlucky) throw new Error('unlucky');
      await listen(event);
    });
    await eventually(async () => (await parkedEvents()).length === 3);
    const kept = await database.sql<{ text: string }[]>`select parked::text as text from reactions.parked`;
    expect(kept.filter(({ text }) => text.includes('123456'))).toEqual([]);
    await store.setRetention('bell-a', { truncateBefore: 2 });
    isUnlucky = false;
    await askToRetry(database.sql, 'answer-door');
    await eventually(async () => (await parkedEvents()).length === 0);
    expect(heard).toEqual(['bell-a 3']);
  });

  it('retries events that an earlier version of the program parked as copies', async () => {
    await append(store, 'bell-a', rang(1), rang(2));
    const first = start(() => Promise.reject(new Error('unlucky')));
    await eventually(async () => (await parkedEvents()).length === 2);
    await first.stop();
    await database.sql`alter table reactions.parked add column event text`;
    for (const revision of [0, 1]) {
      const event = JSON.stringify({ stream: 'bell-a', revision, data: '{"name":"\\u0000"}' });
      await database.sql`update reactions.parked set event = ${event} where revision = ${revision}`;
    }
    await database.sql`alter table reactions.parked drop column revision`;
    start();
    await eventually(async () => {
      await askToRetry(database.sql, 'answer-door');
      return (await parkedEvents()).length === 0;
    });
    expect(heard).toEqual(['bell-a 1', 'bell-a 2']);
  });

  it('parks and frees nothing after another process has taken over, also if it has not noticed yet', async () => {
    const takeOver = () => database.sql`update reactions.reaction_checkpoint set epoch = epoch + 1`;
    let tries = 0;
    const first = start(async () => {
      if (++tries === 6) await takeOver();
      throw new Error('unlucky');
    });
    await append(store, 'bell-a', rang(1));
    await eventually(async () => tries > 6 || (await parkedEvents()).length > 0);
    expect(await parkedEvents()).toEqual([]);
    await first.stop();

    let isUnlucky = true;
    start(async (event) => {
      if (isUnlucky) throw new Error('unlucky');
      await takeOver();
      await listen(event);
    });
    await eventually(async () => (await parkedEvents()).length === 1);
    isUnlucky = false;
    await askToRetry(database.sql, 'answer-door');
    await eventually(async () => heard.length > 1 || (await parkedEvents()).length === 0);
    expect(await parkedEvents()).toHaveLength(1);
  });

  it('whose checkpoint is past the end of a restored log is reset to the end and acts on later events', async () => {
    const before = start();
    await append(store, 'bell-a', rang(1), rang(2));
    await eventually(() => heard.length === 2);
    await before.stop();
    store = new InMemoryEventStore();
    const head = await append(store, 'bell-a', rang(1));
    const reactions = start();
    await eventually(() => reactions.failureOf('answer-door') === LOG_ENDS_EARLIER);
    expect(await takeBackReactions(database.sql, endingAt(head))).toEqual(['answer-door']);
    expect(await takeBackReactions(database.sql, endingAt(head))).toEqual([]);
    await append(store, 'bell-a', rang(3));
    await eventually(() => heard.length === 3);
    expect(heard).toEqual(['bell-a 1', 'bell-a 2', 'bell-a 3']);
  });

  it('whose checkpoint is between two events of a restored log is reset to the end', async () => {
    const before = start();
    const reached = await append(store, 'bell-a', rang(1));
    await eventually(() => isCheckpointAt(reached));
    await before.stop();
    const head = await append(store, 'bell-a', rang(2));
    const restored = {
      ...endingAt(head),
      readAll: (reading: LogReading) => {
        if (reading.after !== head) throw new LogDiffers();
        return store.readAll(reading);
      },
    };
    expect(await takeBackReactions(database.sql, restored)).toEqual(['answer-door']);
    expect(await isCheckpointAt(head)).toBe(true);
    expect(await takeBackReactions(database.sql, restored)).toEqual([]);
  });

  it('that acts on a new event while the end of the log is read is not reset', async () => {
    const first = await append(store, 'bell-a', rang(1));
    start();
    await eventually(() => isCheckpointAt(first));
    const readLate = async () => {
      const second = await append(store, 'bell-a', rang(2));
      await eventually(() => isCheckpointAt(second));
      return first;
    };
    expect(await takeBackReactions(database.sql, { ...endingAt(first), end: readLate })).toEqual([]);
    await append(store, 'bell-a', rang(3));
    await eventually(() => heard.length === 3);
    expect(heard).toEqual(['bell-a 1', 'bell-a 2', 'bell-a 3']);
  });

  it('drops parked events that a restored log does not have', async () => {
    const unlucky = async () => {
      throw new Error('unlucky');
    };
    const before = start(unlucky);
    await append(store, 'bell-a', rang(1));
    await append(store, 'bell-b', rang(2));
    await eventually(async () => (await parkedEvents()).length === 2);
    await before.stop();
    store = new InMemoryEventStore();
    const head = await append(store, 'bell-a', rang(1));
    await takeBackReactions(database.sql, endingAt(head));
    await append(store, 'bell-b', rang(3));
    start();
    await eventually(() => heard.length > 0);
    expect(heard).toEqual(['bell-b 3']);
    expect(await parkedEvents()).toMatchObject([{ stream: 'bell-a' }]);
  });
});
