import {
  type Appended,
  EventStore,
  type ExpectedRevision,
  isPlaceIn,
  LogEndsEarlier,
  type LogFilter,
  type LogPage,
  type LogReading,
  type NewEvent,
  type Retention,
  type StoredEvent,
  type StoredTexts,
  StoreUnavailable,
  type StreamReading,
} from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { BACK_OFF_MAX_MS } from '../supervision/back-off.js';

/** How long the failure of a follower counts. A follower that still fails is tried again sooner. */
export const FAILURE_COUNTS_MS = 3 * BACK_OFF_MAX_MS;

/** The furthest place that the log no longer has, and when a follower last failed for that reason. */
type Lost = Readonly<{ place: bigint; failedAt: number; text: string }>;

/**
 * A log that takes no appends while followers of this process find that it was replaced by an older one. Every append would bring
 * the log nearer to the places of the followers, and past them they would skip what was appended before.
 */
export class WholeLogEventStore extends EventStore {
  private lost: Lost | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly timing: Pick<Timing, 'elapsedMs'>,
  ) {
    super();
  }

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    return this.onceWhole(() => this.store.append(stream, expected, events));
  }

  override appendWithin(
    bounds: Retention,
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    return this.onceWhole(() => this.store.appendWithin(bounds, stream, expected, events));
  }

  setRetention(stream: string, retention: Retention): Promise<void> {
    return this.onceWhole(() => this.store.setRetention(stream, retention));
  }

  async *followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    let place = after;
    try {
      for await (const page of this.store.followAll(after, filter, signal)) {
        place = page.position;
        yield page;
      }
    } catch (error) {
      if (error instanceof LogEndsEarlier) this.note(place, error.message);
      throw error;
    }
  }

  read(stream: string, reading?: StreamReading): AsyncIterable<readonly StoredEvent[]> {
    return this.store.read(stream, reading);
  }

  override readTexts(stream: string, from?: number): AsyncIterable<StoredTexts> {
    return this.store.readTexts(stream, from);
  }

  lastRevision(stream: string): Promise<ExpectedRevision> {
    return this.store.lastRevision(stream);
  }

  override grownPast(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    return this.store.grownPast(known);
  }

  readAll(reading: LogReading): AsyncIterable<LogPage> {
    return this.store.readAll(reading);
  }

  follow(stream: string, after: number, signal: AbortSignal): AsyncIterable<readonly StoredEvent[]> {
    return this.store.follow(stream, after, signal);
  }

  head(): Promise<bigint> {
    return this.store.head();
  }

  override end(): Promise<bigint> {
    return this.store.end();
  }

  private note(place: bigint, text: string): void {
    const before = this.lost?.place ?? place;
    this.lost = { place: place > before ? place : before, failedAt: this.timing.elapsedMs(), text };
  }

  /** Usually nothing is lost, and the write is not delayed. @throws as `requireWhole` and the write do */
  private onceWhole<T>(write: () => Promise<T>): Promise<T> {
    return this.lost ? this.requireWhole(this.lost).then(write) : write();
  }

  /** @throws StoreUnavailable if the log still lacks the place, unless no follower has failed for a while */
  private async requireWhole(lost: Lost): Promise<void> {
    const isRecent = this.timing.elapsedMs() - lost.failedAt < FAILURE_COUNTS_MS;
    if (isRecent && !(await this.reaches(lost.place))) throw new StoreUnavailable(lost.text);
    if (this.lost === lost) this.lost = undefined;
  }

  private async reaches(place: bigint): Promise<boolean> {
    return (await this.store.end()) >= place && (await isPlaceIn(this.store, place));
  }
}
