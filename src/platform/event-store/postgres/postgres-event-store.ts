import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import {
  type Appended,
  categoryOf,
  EventStore,
  type ExpectedRevision,
  type LogFilter,
  type LogPage,
  type LogReading,
  type NewEvent,
  type Retention,
  type StoredEvent,
  type StoredTexts,
  StoreUnavailable,
  type StreamReading,
} from '../../../kernel/event-sourcing/event-store.js';
import { isPassing, openDatabase } from '../../postgres/database.js';
import { migrate } from '../../postgres/migrate.js';
import { Pool } from '../../postgres/pool.js';
import { SharedCalls } from '../../shared-calls.js';
import { FRAMES } from '../wanted.js';
import { Followers } from './followers.js';
import { ANSWER_TIMEOUT_MS, GroupCommit, STATEMENT_TIMEOUT_MS } from './group-commit.js';
import { logEnd, logHead, logPage } from './log-pages.js';
import { Notifications } from './notifications.js';
import { RecentEvents } from './recent-events.js';
import { scavenge, type Scavenged, Scavenger } from './scavenge.js';
import { assertStreamName } from './storable.js';
import { type PageRequest, STREAM_END, streamEnd, streamPages, streamsGrownPast, textsPages } from './stream-pages.js';
import { WakeUps } from './wake-ups.js';

export type PostgresEventStoreOptions = Readonly<{
  url: string;
  /** As `DatabaseOptions.socket`. */
  socket?: string | undefined;
  readConnections?: number;
  /** How long a read or an append may take, including repetitions. After that the store counts as unavailable. */
  deadlineMs?: number;
  /** How often followers poll, in case notifications are lost. */
  pollMs?: number;
  /** How often events that bounds hide are deleted. */
  scavengeMs?: number;
}>;

const READ_CONNECTIONS_DEFAULT = 6;
const DEADLINE_MS = 5_000;
const RETRY_MS_MIN = 20;
const RETRY_MS_MAX = 500;

const SCHEMA = 'event_store';
const STEPS = [
  './event-store.sql',
  './truncated-streams.sql',
  './bounded-appends.sql',
  './unfinished-scavenges.sql',
  './counted-streams.sql',
].map((step) => new URL(step, import.meta.url));

/** The log in Postgres tables, shared by any number of processes. */
export class PostgresEventStore extends EventStore {
  private readonly reading: Pool;
  private readonly writing: Pool;
  private readonly commits: GroupCommit;
  private readonly recent = new RecentEvents();
  private readonly wakeUps = new WakeUps();
  private readonly notifications: Notifications;
  private readonly pages = {
    forwards: this.shared((sql, requests: readonly PageRequest[]) => streamPages(sql, requests, 'forwards')),
    backwards: this.shared((sql, requests: readonly PageRequest[]) => streamPages(sql, requests, 'backwards')),
  };
  private readonly texts = this.shared(textsPages);
  private readonly deadlineMs: number;
  private readonly scavenger: Scavenger;
  private readonly followers = new Followers((run) => this.query(run), this.recent, this.wakeUps);
  private closed = false;

  constructor({ url, socket, readConnections, deadlineMs, pollMs, scavengeMs }: PostgresEventStoreOptions) {
    super();
    this.deadlineMs = deadlineMs ?? DEADLINE_MS;
    const open = (name: string, connections: number) => (): Sql =>
      openDatabase({ url, socket, name: `event store, ${name}`, connections, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
    this.reading = new Pool(
      open('reading', readConnections ?? READ_CONNECTIONS_DEFAULT),
      Math.max(this.deadlineMs, ANSWER_TIMEOUT_MS),
    );
    this.writing = new Pool(open('appending', 1), ANSWER_TIMEOUT_MS);
    this.commits = new GroupCommit(this.writing, this.deadlineMs, (committed) => this.spread(committed));
    this.notifications = new Notifications(this.reading, open('listening', 1)(), this.wakeUps, pollMs);
    this.scavenger = new Scavenger(() => this.scavenge(), scavengeMs);
  }

  /** Migrates the tables, and starts listening to other processes and deleting expired events. */
  async start(): Promise<void> {
    await migrate(
      this.reading.sql,
      SCHEMA,
      STEPS.map((step) => readFileSync(step, 'utf8')),
    );
    await this.notifications.start();
    this.scavenger.start();
  }

  /** Ends all followers, waits for appends in progress, and closes the connections. */
  async close(): Promise<void> {
    this.closed = true;
    this.scavenger.stop();
    this.followers.close();
    await this.commits.close();
    await this.notifications.close();
    await Promise.all([this.reading.close(1), this.writing.close(1)]);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    return this.commits.append(stream, expected, events);
  }

  /** A maximum age is set in the same statement as the append. Other bounds are rare and take a second one. */
  override async appendWithin(
    bounds: Retention,
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    const { maxAgeSeconds, ...others } = bounds;
    if (maxAgeSeconds === undefined || Object.keys(others).length > 0)
      return super.appendWithin(bounds, stream, expected, events);
    return this.commits.append(stream, expected, events, maxAgeSeconds);
  }

  async *read(
    stream: string,
    { from, direction = 'forwards', limit = Infinity }: StreamReading = {},
  ): AsyncGenerator<readonly StoredEvent[]> {
    let next = from ?? (direction === 'forwards' ? 0 : STREAM_END);
    for (let left = limit; left > 0 && next >= 0;) {
      const request = { stream, from: next, limit: left };
      const { events, more } = await this.untilDeadline((deadline) => this.pages[direction].call(request, deadline));
      if (events.length > 0) yield events;
      if (!more) return;
      left -= events.length;
      next = events.at(-1)!.revision + (direction === 'forwards' ? 1 : -1);
    }
  }

  override async *readTexts(stream: string, from = 0): AsyncGenerator<StoredTexts> {
    for (let next = from, more = true; more;) {
      const request = { stream, from: next };
      const read = await this.untilDeadline((deadline) => this.texts.call(request, deadline));
      if (!read) return;
      for (const { metadata, ...page } of read.pages)
        yield next === from && metadata !== undefined ? { ...page, metadata } : page;
      ({ next, more } = read);
    }
  }

  lastRevision(stream: string): Promise<ExpectedRevision> {
    return this.query((sql) => streamEnd(sql, stream));
  }

  override grownPast(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    return this.query((sql) => streamsGrownPast(sql, known));
  }

  async *readAll({ after, filter = {}, limit = Infinity }: LogReading): AsyncGenerator<LogPage> {
    let position = after;
    let present: bigint | undefined;
    for (let left = limit; left > 0;) {
      const { page, head } = await this.query((sql) => logPage(sql, position, filter, left));
      // The target is the head at the first page. A moving target would never be reached in a busy log.
      present ??= head;
      // The end moves back when the newest events are deleted.
      const caughtUp = page.caughtUp || page.position >= present;
      yield { ...page, caughtUp };
      if (caughtUp) return;
      left -= page.events.length;
      position = page.position;
    }
  }

  followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    return this.followers.followAll(after, filter, signal);
  }

  async setRetention(stream: string, { maxAgeSeconds, maxCount, truncateBefore }: Retention): Promise<void> {
    assertStreamName(stream);
    await this.query(
      (sql) => sql`
      insert into event_store.stream as s (name, category, revision, max_age_seconds, max_count, truncate_before, scavenge_at)
      values (
        ${stream}, split_part(${stream}, '-', 1), -1, ${maxAgeSeconds ?? null}, ${maxCount ?? null}, ${truncateBefore ?? null}, now()
      )
      on conflict (name) do update set
        max_age_seconds = excluded.max_age_seconds,
        max_count = excluded.max_count,
        truncate_before = greatest(s.truncate_before, excluded.truncate_before),
        scavenge_at = now()`,
    );
  }

  async head(): Promise<bigint> {
    return this.query(logHead);
  }

  override async end(): Promise<bigint> {
    return this.query(logEnd);
  }

  /** Deletes some of the events that bounds hide. The scavenger also does this regularly. */
  async scavenge(): Promise<Scavenged> {
    return scavenge((run) => this.query(run));
  }

  private spread(committed: readonly (readonly StoredEvent[])[]): void {
    if (committed.length === 0) return;
    this.recent.add(committed);
    // Signals wake the readers of frames in other processes, and nothing else follows frames.
    if (committed.every(([first]) => categoryOf(first!.stream) === FRAMES)) return this.wakeUps.ringForFrames();
    this.wakeUps.ringAll();
    this.notifications.announce();
  }

  private shared<Request, Found>(
    read: (sql: Sql, requests: readonly Request[]) => Promise<readonly Found[]>,
  ): SharedCalls<Request, Found> {
    const call = (requests: readonly Request[], timeoutMs: number) => this.reading.run((sql) => read(sql, requests), timeoutMs);
    // The server has refused the statement.
    return new SharedCalls(call, { concernsOne: (error) => !isPassing(error) });
  }

  /** @throws StoreUnavailable */
  private query<T>(run: (sql: Sql) => PromiseLike<T>): Promise<T> {
    return this.untilDeadline((deadline) => this.reading.run(run, Math.max(1, deadline - performance.now())));
  }

  /** @throws StoreUnavailable */
  private async untilDeadline<T>(attempt: (deadline: number) => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.deadlineMs;
    for (let pauseMs = RETRY_MS_MIN; ; pauseMs = Math.min(pauseMs * 2, RETRY_MS_MAX)) {
      try {
        return await attempt(deadline);
      } catch (error) {
        if (!isPassing(error)) throw error;
        if (this.closed || performance.now() + pauseMs >= deadline) {
          throw new StoreUnavailable(`The event store did not answer within ${this.deadlineMs} ms.`, { cause: error });
        }
        await sleep(pauseMs);
      }
    }
  }
}
