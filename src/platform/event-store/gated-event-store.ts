import {
  type Appended,
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
} from '../../kernel/event-sourcing/event-store.js';

/** An event store that is not open yet. Until it is opened, every call fails as if the store were unavailable. */
export class GatedEventStore extends EventStore {
  private isOpen = false;

  constructor(private readonly store: EventStore) {
    super();
  }

  open(): void {
    this.isOpen = true;
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    return this.opened().append(stream, expected, events);
  }

  override async appendWithin(
    bounds: Retention,
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    return this.opened().appendWithin(bounds, stream, expected, events);
  }

  async *read(stream: string, reading?: StreamReading): AsyncIterable<readonly StoredEvent[]> {
    yield* this.opened().read(stream, reading);
  }

  override async *readTexts(stream: string, from?: number): AsyncIterable<StoredTexts> {
    yield* this.opened().readTexts(stream, from);
  }

  async lastRevision(stream: string): Promise<ExpectedRevision> {
    return this.opened().lastRevision(stream);
  }

  override async grownPast(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    return this.opened().grownPast(known);
  }

  async *readAll(reading: LogReading): AsyncIterable<LogPage> {
    yield* this.opened().readAll(reading);
  }

  async *followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    yield* this.opened().followAll(after, filter, signal);
  }

  async setRetention(stream: string, retention: Retention): Promise<void> {
    return this.opened().setRetention(stream, retention);
  }

  async head(): Promise<bigint> {
    return this.opened().head();
  }

  override async end(): Promise<bigint> {
    return this.opened().end();
  }

  /** @throws StoreUnavailable */
  private opened(): EventStore {
    if (!this.isOpen) throw new StoreUnavailable('The event store has not answered since this process was started.');
    return this.store;
  }
}
