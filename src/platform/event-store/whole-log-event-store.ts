import {
  type Appended,
  type EventStore,
  type ExpectedRevision,
  isPlaceIn,
  LOG_START,
  LogDiffers,
  LogEndsEarlier,
  type LogFilter,
  type LogPage,
  type NewEvent,
  type Retention,
  StoreUnavailable,
} from '../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../kernel/timing.js';
import { ForwardingEventStore } from './forwarding-event-store.js';

/** How often a process compares the log with the places of the followers. */
export const COMPARED_EVERY_MS = 5_000;

/**
 * A log that takes no appends while it lacks a place up to which any process has followed it, because it was replaced by an older
 * one. Every append would bring the log nearer to the places of the followers, and past them they would skip what was appended
 * before. The followers may all run in other processes, so their stored places are compared with the log: before the first
 * append, at regular intervals, and once a follower of this process fails.
 */
export class WholeLogEventStore extends ForwardingEventStore {
  private isWhole = false;
  private comparing: Promise<void> | undefined;

  /** The furthest place of the last comparison. */
  private place = LOG_START;

  /**
   * @param furthest returns the furthest place that any follower has stored
   * @param onTakenBack is called when that place is further back than before, because a rebuild has followed a restored log
   */
  constructor(
    store: EventStore,
    private readonly furthest: () => Promise<bigint>,
    private readonly onTakenBack: () => void = () => undefined,
  ) {
    super(store);
  }

  /** Compares at regular intervals until the signal aborts. */
  async keepComparing(timing: Pick<Timing, 'pause'>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A failed comparison tells nothing about the log.
      await this.compare().catch(() => undefined);
      await timing.pause(COMPARED_EVERY_MS, signal);
    }
  }

  override append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
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

  override setRetention(stream: string, retention: Retention): Promise<void> {
    return this.onceWhole(() => this.store.setRetention(stream, retention));
  }

  override async *followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    try {
      yield* this.store.followAll(after, filter, signal);
    } catch (error) {
      if (error instanceof LogEndsEarlier) this.isWhole = false;
      throw error;
    }
  }

  /** Usually the log is known to be whole, and the write is not delayed. @throws as `compare` and the write do */
  private onceWhole<T>(write: () => Promise<T>): Promise<T> {
    return this.isWhole ? write() : this.compare().then(write);
  }

  /** @throws StoreUnavailable if the log lacks the furthest place, or if that is unknown */
  private compare(): Promise<void> {
    return (this.comparing ??= this.lack()
      .then((lack) => {
        this.isWhole = lack === undefined;
        if (lack) throw new StoreUnavailable(lack.message);
      })
      .finally(() => (this.comparing = undefined)));
  }

  private async lack(): Promise<LogEndsEarlier | undefined> {
    const place = await this.furthest().catch((error: unknown) => {
      throw new StoreUnavailable('The places up to which the log was followed cannot be read.', { cause: error });
    });
    if (place < this.place) this.onTakenBack();
    this.place = place;
    if ((await this.store.end()) < place) return new LogEndsEarlier();
    return (await isPlaceIn(this.store, place)) ? undefined : new LogDiffers();
  }
}
