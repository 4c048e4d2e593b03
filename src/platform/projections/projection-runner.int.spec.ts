import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accounts, append, moved, opened } from '../../../test/support/accounts.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import type { EventStore, LogPage } from '../../kernel/event-sourcing/event-store.js';
import { Leadership } from '../supervision/leadership.js';
import { systemTiming } from '../system-timing.js';
import { openLog } from '../telemetry/log.js';
import { Semaphore } from '../supervision/semaphore.js';
import { definitionOf } from './definition.js';
import { LiveGroup } from './live-group.js';
import { Progress } from './progress.js';
import { ProjectionRunner } from './projection-runner.js';
import { Rebuild } from './rebuild.js';
import { dropSchema, readCheckpoint } from './schema.js';

/** A log whose followers are told at first that they are caught up where they begin, and nothing more until `arrive`. */
class LateFollowers extends InMemoryEventStore {
  follows = 0;
  arrive = (): void => undefined;
  private readonly arrival = new Promise<void>((resolve) => (this.arrive = resolve));

  constructor(private readonly real: EventStore) {
    super();
  }

  override async *followAll(...[after, filter, signal]: Parameters<EventStore['followAll']>): AsyncIterable<LogPage> {
    yield { events: [], position: after, caughtUp: ++this.follows < 100 };
    signal.addEventListener('abort', this.arrive);
    await this.arrival;
    yield* this.real.followAll(after, filter, signal);
  }

  override readAll: EventStore['readAll'] = (reading) => this.real.readAll(reading);
}

const NAMES = ['accounts', 'balances'] as const;
const timing = systemTiming;

let database: TestDatabase;
let leadership: Leadership;
let store: InMemoryEventStore;
let progress: Progress;
let group: LiveGroup;
let ending: AbortController;
let runs: Promise<void>[];
let logged: string[];
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  for (const name of NAMES) await dropSchema(database.sql, name);
  [store, progress, ending, runs, logged] = [new InMemoryEventStore(), new Progress(timing), new AbortController(), [], []];
  leadership = new Leadership(database.sql, timing);
  group = new LiveGroup({ sql: database.sql, store, progress, timing }, { categories: ['account', 'message'] });
});
afterEach(async () => {
  ending.abort();
  await Promise.all(runs);
  await leadership.close();
});

async function start(name: (typeof NAMES)[number], source: EventStore): Promise<ProjectionRunner> {
  const log = openLog({ level: 'info', format: 'json', destination: { write: (line) => void logged.push(line) } });
  const others = { sql: database.sql, leadership, group, catchingUp: new Semaphore(2), progress, timing, log };
  const runner = new ProjectionRunner({ ...others, store: source }, await definitionOf(accounts(name)));
  runs.push(runner.run(ending.signal));
  return runner;
}

describe('a projection whose source is caught up before it has come as far as the group', () => {
  it('waits for the events between, without asking again and again', async () => {
    await start('accounts', store);
    const position = await append(store, 'account-a', opened('a'), moved('a', 5));
    await eventually(() => progress.hasReached(['accounts'], position));
    const late = new LateFollowers(store);
    await start('balances', late);
    await eventually(() => late.follows > 0);
    await timing.pause(50);
    expect(late.follows).toBe(1);
    late.arrive();
    await eventually(() => progress.hasReached(['balances'], position));
    expect(await database.sql`select cents::integer from balances.account`).toEqual([{ cents: 5 }]);
  });

  it('joins the group at once if no event for it lies between', async () => {
    await start('accounts', store);
    const position = await append(store, 'message-1', { type: 'FrameSent', data: {} });
    await eventually(() => progress.hasReached(['accounts'], position));
    await start('balances', new LateFollowers(store));
    await eventually(async () => (await readCheckpoint(database.sql, 'balances'))?.position === position);
    expect(progress.hasReached(['balances'], position)).toBe(true);
    const next = await append(store, 'account-a', opened('a'));
    await eventually(() => progress.hasReached(['balances'], next));
  });

  it('waits for the next event if the newest events of the log, up to which the group has come, were deleted', async () => {
    await start('accounts', store);
    const kept = await append(store, 'account-a', opened('a'));
    const deleted = await append(store, 'message-1', { type: 'FrameSent', data: {} });
    await eventually(() => progress.hasReached(['accounts'], deleted));
    const late = new LateFollowers(store);
    let asked = 0;
    late.readAll = async function* () {
      if (++asked > 10) throw new Error('It asks again and again.');
      yield { events: [], position: kept, caughtUp: true };
    };
    await start('balances', late);
    await eventually(() => asked > 0);
    const next = await append(store, 'account-a', moved('a', 5));
    late.arrive();
    await eventually(() => progress.hasReached(['balances'], next));
    expect(asked).toBeLessThan(5);
  });
});

it('a projection whose rows a rebuild has replaced goes on with the new rows, which is no failure', async () => {
  const runner = await start('accounts', store);
  const before = await append(store, 'account-a', opened('a'), moved('a', 5));
  await eventually(() => progress.hasReached(['accounts'], before));
  const options = { timing, signal: ending.signal, onProgress: () => undefined };
  expect((await Rebuild.run(database.sql, store, accounts('accounts'), options)).swapped).toBe(true);
  const position = await append(store, 'account-a', moved('a', 2));
  await eventually(async () => (await readCheckpoint(database.sql, 'accounts'))?.position === position);
  expect(await database.sql`select cents::integer from accounts.account`).toEqual([{ cents: 7 }]);
  const lines = logged.map((line) => JSON.parse(line) as { level: string; msg: string });
  expect({ lines: lines.map(({ level, msg }) => [level, msg]), failure: runner.failure }).toEqual({
    lines: [['info', 'The rows of projection accounts were replaced by a rebuild, or have another writer. It starts again.']],
    failure: undefined,
  });
});
