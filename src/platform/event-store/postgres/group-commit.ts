import {
  appendBytes,
  APPEND_BYTES_MAX,
  type Appended,
  AppendTooLarge,
  type ExpectedRevision,
  type NewEvent,
  type StoredEvent,
  StoreUnavailable,
  WrongRevision,
} from '../../../kernel/event-sourcing/event-store.js';
import { isPassing } from '../../postgres/database.js';
import type { Pool } from '../../postgres/pool.js';
import { type Append, appendAll, type AppendResult } from './append-statement.js';
import { assertStorable } from './storable.js';

/** How long a statement may take. The server cancels it shortly before this side drops the connection. */
export const STATEMENT_TIMEOUT_MS = 2_000;
export const ANSWER_TIMEOUT_MS = 2_500;
const BATCH_APPENDS_MAX = 500;
const BATCH_BYTES_MAX = 4 * 1024 * 1024;
const STATEMENTS_MAX = 2;
/** The least number of appends for which a second statement is sent, because each statement costs a flush to disk. */
export const SECOND_APPENDS_MIN = 16;
const PAUSE_MS_MIN = 20;
const PAUSE_MS_MAX = 500;
const EXPIRY_CHECK_MS = 50;

type Waiting = Append &
  Readonly<{
    expected: ExpectedRevision;
    bytes: number;
    since: number;
    resolve: (appended: Appended) => void;
    reject: (error: unknown) => void;
  }>;

/**
 * Group commit. Appends that arrive while a statement is in progress share the next one, so that many writers share one round
 * trip and one flush to disk. When many wait, they are sent as two statements, one after the other on the same connection: the
 * server executes one while this process prepares the next and handles the results of the last. An append whose statement was cut
 * off is sent again until its deadline, which ids and expected revision make idempotent.
 */
export class GroupCommit {
  private queue: Waiting[] = [];
  /** The appends without an answer, oldest first. */
  private readonly open = new Set<Waiting>();
  /** The number of statements without an answer. */
  private inFlight = 0;
  private scheduled = false;
  private pauseMs = 0;
  private pausing: NodeJS.Timeout | undefined;
  private closed = false;
  /** The events of committed appends that are not passed on yet, in log order. */
  private written: (readonly StoredEvent[])[] = [];
  /** Why the waiting appends are not written yet. */
  private delay: { cause?: unknown } = {};
  /** Runs while there are open appends. */
  private expiry: NodeJS.Timeout | undefined;

  constructor(
    private readonly pool: Pool,
    /** How long an append may take, including repetitions, before its outcome counts as unknown. */
    private readonly deadlineMs: number,
    /** Gets the events of committed appends, in log order, after their writers have had the chance to append again. */
    private readonly onCommitted: (committed: readonly (readonly StoredEvent[])[]) => void,
  ) {}

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[], maxAgeSeconds?: number): Promise<Appended> {
    assertStorable(stream, expected, events);
    const bytes = appendBytes(events);
    if (bytes > APPEND_BYTES_MAX) throw new AppendTooLarge(stream, bytes);
    if (this.closed) throw new StoreUnavailable('The event store is closed.');
    return new Promise((resolve, reject) => {
      const after = expected === 'none' ? -1 : expected;
      const waiting = { stream, expected, after, events, maxAgeSeconds, bytes, since: performance.now(), resolve, reject };
      this.open.add(waiting);
      this.expiry ??= setInterval(() => this.expire(), EXPIRY_CHECK_MS).unref();
      this.queue.push(waiting);
      this.schedule();
    });
  }

  /** Accepts no further appends and waits for those in progress, up to their deadlines. */
  async close(): Promise<void> {
    this.closed = true;
    while (this.open.size > 0) await new Promise((resolve) => setTimeout(resolve, EXPIRY_CHECK_MS));
    clearInterval(this.expiry);
    clearTimeout(this.pausing);
  }

  /**
   * Sends at the end of this turn of the event loop, because callers that waited for the last batch append again within it. Only
   * then are committed events passed on, because readers who wait for an answer wait for its next append, and not for followers.
   */
  private schedule(): void {
    if (this.scheduled || !(this.isDue() || this.written.length > 0)) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      while (this.isDue()) void this.commit(this.nextBatch());
      const { written } = this;
      this.written = [];
      if (written.length > 0) this.onCommitted(written);
    });
  }

  private isDue(): boolean {
    if (this.pausing) return false;
    if (this.inFlight === 0) return this.queue.length > 0;
    return this.inFlight < STATEMENTS_MAX && this.queue.length >= SECOND_APPENDS_MIN;
  }

  private nextBatch(): Waiting[] {
    const half = Math.floor(this.queue.length / 2);
    const most = this.inFlight === 0 && half >= SECOND_APPENDS_MIN ? half : this.queue.length;
    let bytes = 0;
    let count = 0;
    while (count < Math.min(most, BATCH_APPENDS_MAX)) {
      bytes += this.queue[count]!.bytes;
      if (count > 0 && bytes > BATCH_BYTES_MAX) break;
      count++;
    }
    return this.queue.splice(0, count);
  }

  private async commit(batch: readonly Waiting[]): Promise<void> {
    this.inFlight++;
    try {
      await this.send(batch);
      this.pauseMs = 0;
      this.delay = {};
    } catch (error) {
      if (isPassing(error)) this.sendAgainLater(batch, error);
      else await this.sendOneByOne(batch, error);
    } finally {
      this.inFlight--;
      this.schedule();
    }
  }

  private async send(batch: readonly Waiting[]): Promise<void> {
    const results = await this.pool.run((sql) => appendAll(sql, batch), ANSWER_TIMEOUT_MS);
    for (const result of results) {
      const append = batch[result.append]!;
      if (result.writtenNow) this.written.push(committed(append, result));
      this.finish(append, result);
    }
  }

  private finish(append: Waiting, { revision, position }: AppendResult): void {
    if (!this.open.has(append)) return;
    if (position === undefined && revision === append.after) {
      // It lost to an earlier append that was not written. At the stream's current revision it may succeed.
      this.queue.push(append);
      return;
    }
    this.open.delete(append);
    if (position !== undefined) append.resolve({ revision, position });
    else append.reject(new WrongRevision(append.stream, append.expected, revision < 0 ? 'none' : revision));
  }

  private sendAgainLater(batch: readonly Waiting[], cause: unknown): void {
    this.delay = { cause };
    this.queue = [...batch.filter((append) => this.open.has(append)), ...this.queue];
    this.pauseMs = Math.min(Math.max(this.pauseMs * 2, PAUSE_MS_MIN), PAUSE_MS_MAX);
    this.pausing ??= setTimeout(() => {
      this.pausing = undefined;
      this.schedule();
    }, this.pauseMs);
  }

  /** Sends the appends of a refused statement one by one, so that the invalid one does not fail the others. */
  private async sendOneByOne(batch: readonly Waiting[], refusal: unknown): Promise<void> {
    if (batch.length === 1) {
      const [append] = batch;
      if (this.open.delete(append!)) append!.reject(refusal);
      return;
    }
    for (const append of batch) await this.send([append]).catch((error: unknown) => this.giveUpOrRepeat(append, error));
  }

  private giveUpOrRepeat(append: Waiting, error: unknown): void {
    if (isPassing(error)) this.sendAgainLater([append], error);
    else if (this.open.delete(append)) append.reject(error);
  }

  private expire(): void {
    const oldest = performance.now() - this.deadlineMs;
    let expired = 0;
    for (const append of this.open) {
      if (append.since > oldest) break;
      this.open.delete(append);
      expired++;
      append.reject(new StoreUnavailable(`The event store did not answer within ${this.deadlineMs} ms.`, this.delay));
    }
    if (expired > 0) this.queue = this.queue.filter((append) => this.open.has(append));
    if (this.open.size > 0) return;
    clearInterval(this.expiry);
    this.expiry = undefined;
  }
}

function committed({ stream, after, events }: Append, { position, at }: AppendResult): readonly StoredEvent[] {
  const first = position! - BigInt(events.length - 1);
  return events.map(({ id, type, data, metadata }, index) => ({
    id,
    type,
    data,
    metadata,
    stream,
    revision: after + 1 + index,
    position: first + BigInt(index),
    at,
  }));
}
