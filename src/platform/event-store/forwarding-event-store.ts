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
  type StreamReading,
} from '../../kernel/event-sourcing/event-store.js';

/** An event store that passes every call on to another one. A subclass overrides what it changes. */
export abstract class ForwardingEventStore extends EventStore {
  constructor(protected readonly store: EventStore) {
    super();
  }

  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    return this.store.append(stream, expected, events);
  }

  override appendWithin(
    bounds: Retention,
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    return this.store.appendWithin(bounds, stream, expected, events);
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

  followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    return this.store.followAll(after, filter, signal);
  }

  setRetention(stream: string, retention: Retention): Promise<void> {
    return this.store.setRetention(stream, retention);
  }

  head(): Promise<bigint> {
    return this.store.head();
  }

  override end(): Promise<bigint> {
    return this.store.end();
  }
}
