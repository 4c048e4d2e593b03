import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import type { LogFilter, LogPage } from '../../../kernel/event-sourcing/event-store.js';
import { newId } from '../../../kernel/ids.js';
import { PAGE_EVENTS_MAX } from './event-rows.js';
import { Followers } from './followers.js';
import { RecentEvents } from './recent-events.js';
import { WakeUps } from './wake-ups.js';

const WANTED: LogFilter = { exceptCategories: ['message'], categories: ['a'] };

/** A log in another process. A statement returns the events that the log held when the statement was sent. */
class Log {
  readonly streams: string[] = [];
  statements = 0;
  /** Delays the results until it resolves. */
  held: Promise<void> | undefined;

  readonly query = async <T>(run: (sql: Sql) => PromiseLike<T>): Promise<T> => {
    this.statements++;
    const unsafe = (_text: string, [after, limit]: readonly [string, number]) => ({
      values: () => {
        const [from, head, rows] = [Number(after) + 1, this.streams.length - 1, this.streams.slice()];
        const events = rows
          .map((stream, position) => [`${position}`, 0, newId(), 'Happened', '{}', '{}', new Date(), stream])
          .slice(from, from + limit);
        const nothing = [null, null, null, null, null, null, null, null, '0', `${head}`];
        return events.length === 0 ? [nothing] : events.map((event) => [...event, `${events.length}`, `${head}`]);
      },
    });
    const { held } = this;
    const answer = await run({ unsafe } as unknown as Sql);
    await held;
    return answer;
  };
}

let log: Log;
let wakeUps: WakeUps;
let followers: Followers;
let heard: { position: bigint; streams: string[] }[][];

beforeEach(() => {
  [log, wakeUps, heard] = [new Log(), new WakeUps(), []];
  followers = new Followers(log.query, new RecentEvents(), wakeUps);
});

afterEach(() => followers.close());

/** Follows the log and records the pages in `heard`. */
async function follow(filter: LogFilter): Promise<void> {
  begin(filter);
  await turns();
}

function begin(filter: LogFilter): void {
  const pages = followers.followAll(-1n, filter, new AbortController().signal);
  const told: { position: bigint; streams: string[] }[] = [];
  heard.push(told);
  const note = ({ events, position }: LogPage) => void told.push({ position, streams: events.map(({ stream }) => stream) });
  void (async () => {
    for await (const page of pages) note(page);
  })();
}

async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function append(...streams: string[]): void {
  log.streams.push(...streams);
  wakeUps.ringAll();
}

it('says that a follower is caught up when the events after its page were deleted', async () => {
  append(...Array.from({ length: PAGE_EVENTS_MAX + 1 }, () => 'a-1'));
  const told: boolean[] = [];
  for await (const { position, caughtUp } of followers.followAll(-1n, WANTED, new AbortController().signal)) {
    expect(position).toBe(BigInt(PAGE_EVENTS_MAX - 1));
    if (told.push(caughtUp) === 2) break;
    log.streams.pop();
  }
  expect(told).toEqual([false, true]);
});

it('reads the newest page once for all followers that wake together and gives each its filtered events', async () => {
  for (let count = 0; count < 20; count++) await follow(count % 2 === 0 ? WANTED : { exceptCategories: ['message'] });
  const before = log.statements;
  append('a-1', 'b-1');
  await turns();
  expect(log.statements - before).toBe(1);
  expect(heard.map((told) => told.at(-1))).toEqual(
    heard.map((_, count) => ({ position: 1n, streams: count % 2 === 0 ? ['a-1'] : ['a-1', 'b-1'] })),
  );
});

it('reads the first page once for all followers that start together, and separately for those that are behind after it', async () => {
  log.streams.push(...Array.from({ length: PAGE_EVENTS_MAX }, () => 'b-1'), 'a-1');
  for (let count = 0; count < 20; count++) begin(WANTED);
  await turns();
  expect(log.statements).toBe(1 + 20);
  expect(heard.map((told) => told.flatMap(({ streams }) => streams))).toEqual(heard.map(() => ['a-1']));
});

it('lets no follower join a statement that was sent before the append that woke it', async () => {
  await follow(WANTED);
  const slow = followers.followAll(-1n, WANTED, new AbortController().signal);
  await slow.next();
  let release = (): void => undefined;
  log.held = new Promise((resolve) => (release = resolve));
  append('a-1');
  await turns();
  log.held = undefined;
  append('a-2');
  const page = (await slow.next()).value as LogPage;
  expect(page.events.map(({ stream }) => stream)).toEqual(['a-1', 'a-2']);
  release();
  await turns();
  expect(heard[0]!.flatMap(({ streams }) => streams)).toEqual(['a-1', 'a-2']);
});

it('reads separately for each follower that is behind or wants frames', async () => {
  log.streams.push('a-1');
  for (const filter of [WANTED, {}, {}]) await follow(filter);
  expect(log.statements).toBe(3);
  append('a-2');
  await turns();
  expect(log.statements).toBe(6);
  expect(heard.map((told) => told.flatMap(({ streams }) => streams))).toEqual(heard.map(() => ['a-1', 'a-2']));
});
