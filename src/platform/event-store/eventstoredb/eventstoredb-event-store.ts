import { AppendRaces } from '../../../kernel/event-sourcing/append-races.js';
import {
  type Appended,
  EventStore,
  type ExpectedRevision,
  LOG_START,
  type LogFilter,
  type LogPage,
  type LogReading,
  type NewEvent,
  nothingIfGone,
  type Retention,
  type StoredEvent,
  StoreUnavailable,
  type StreamReading,
} from '../../../kernel/event-sourcing/event-store.js';
import { systemTiming } from '../../system-timing.js';
import { Appends } from './appends.js';
import { Connection } from './connection.js';
import { ANSWER_DEADLINE_MS, APPEND_DEADLINE_MS, PING_DEADLINE_MS, PING_RETRY_MS, SILENCE_MS } from './limits.js';
import { LogEnd, LogFollow, LogRead } from './log-cursor.js';
import { follow, type Patience, readToEnd } from './reading.js';
import { metastreamOf, writeRetention } from './retention.js';
import { versionWarning } from './server-version.js';
import { SharedFollow } from './shared-follow.js';
import { MetadataRead, StreamEnd, StreamRead } from './stream-cursor.js';
import { withTimeout } from './with-timeout.js';

export type EventStoreDbOptions = Readonly<{
  /** `esdb://host:port?tls=false`, `esdb+discover://…`. Credentials in it are sent over TLS only. */
  connectionString: string;
  appendDeadlineMs?: number;
  answerDeadlineMs?: number;
  silenceMs?: number;
}>;

/** The log in EventStoreDB. */
export class EventStoreDbEventStore extends EventStore {
  private readonly connection: Connection;
  private readonly appends: Appends;
  private readonly patience: Patience;
  private readonly races = new AppendRaces(systemTiming);
  private readonly following = new SharedFollow(
    (after, filter, signal) => follow(this.connection, new LogFollow(after, filter, () => this.head()), this.patience, signal),
    systemTiming,
  );

  constructor({ connectionString, appendDeadlineMs, answerDeadlineMs, silenceMs }: EventStoreDbOptions) {
    super();
    this.connection = new Connection(connectionString);
    this.appends = new Appends(this.connection, appendDeadlineMs ?? APPEND_DEADLINE_MS);
    this.patience = { answerMs: answerDeadlineMs ?? ANSWER_DEADLINE_MS, silenceMs: silenceMs ?? SILENCE_MS };
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const { revision, position } = await this.appends.append(stream, expected, events);
    // The append is done, so its events are before the present end of the log.
    return { revision, position: position ?? (await this.head()) };
  }

  /** Sends both at the same time. Bounds that arrive before the events hide none of them. */
  override async appendWithin(
    bounds: Retention,
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    const [appended] = await Promise.all([this.append(stream, expected, events), this.setRetention(stream, bounds)]);
    return appended;
  }

  async *read(
    stream: string,
    { from, direction = 'forwards', limit = Infinity }: StreamReading = {},
  ): AsyncIterable<readonly StoredEvent[]> {
    yield* readToEnd(this.connection, new StreamRead(stream, from, direction === 'backwards', limit), this.patience.answerMs);
  }

  async lastRevision(stream: string): Promise<ExpectedRevision> {
    for await (const revision of readToEnd(this.connection, new StreamEnd(stream), this.patience.answerMs)) return revision;
    return 'none';
  }

  async *readAll({ after, filter = {}, limit = Infinity }: LogReading): AsyncIterable<LogPage> {
    const cursor = new LogRead(after, filter, limit, () => this.head());
    yield* readToEnd(this.connection, cursor, this.patience.answerMs);
    const end = cursor.end();
    if (end) yield end;
  }

  followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    return this.following.follow(after, filter, signal);
  }

  async setRetention(stream: string, retention: Retention): Promise<void> {
    await writeRetention(this, this.races, stream, retention, async () => {
      for await (const newest of readToEnd(this.connection, new MetadataRead(metastreamOf(stream)), this.patience.answerMs))
        return newest;
      return { revision: 'none', json: {} };
    }).catch(nothingIfGone);
  }

  async head(): Promise<bigint> {
    for await (const position of readToEnd(this.connection, new LogEnd(), this.patience.answerMs)) return position;
    return LOG_START;
  }

  /** A warning if the server is of another line than the tested one. @throws StoreUnavailable, StoreRefused */
  async versionWarning(): Promise<string | undefined> {
    return versionWarning(await this.connection.serverVersion());
  }

  /** Resolves when the server answers, within PING_DEADLINE_MS. @throws StoreUnavailable, StoreRefused */
  async ping(): Promise<void> {
    const deadlineMs = Math.min(this.patience.answerMs, PING_DEADLINE_MS);
    const late = () => new StoreUnavailable(`EventStoreDB did not answer within ${deadlineMs} ms.`);
    try {
      await withTimeout(deadlineMs, this.answer(deadlineMs), late);
    } catch (error) {
      throw await this.connection.explained(error);
    }
  }

  /** Fails the reads, followers and appends in progress, and all later calls. */
  async close(): Promise<void> {
    this.appends.close();
    await this.connection.close();
  }

  /** The answer to a ping. A second attempt may begin late, so both together may take longer than the deadline. */
  private async answer(deadlineMs: number): Promise<void> {
    for await (const _ of readToEnd(this.connection, new LogEnd(), deadlineMs, PING_RETRY_MS)) return;
  }
}
