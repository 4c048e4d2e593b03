import {
  type Appended,
  EventStore,
  type ExpectedRevision,
  type LogFilter,
  type LogReading,
  type NewEvent,
  type Retention,
  type StreamReading,
} from '../../src/kernel/event-sourcing/event-store.js';

/** The log of a process that crashes after `left` appends. Later appends never reach the log. */
export class MortalStore extends EventStore {
  constructor(
    private readonly store: EventStore,
    private left = Infinity,
    /** Delays an append until it resolves. */
    private readonly before: (stream: string, types: readonly string[]) => Promise<unknown> | void = () => undefined,
    private readonly beforeRead: () => Promise<unknown> | void = () => undefined,
  ) {
    super();
  }

  get isDead(): boolean {
    return this.left < 0;
  }

  override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    await this.before(
      stream,
      events.map(({ type }) => type),
    );
    this.left--;
    this.expectAlive();
    return this.store.append(stream, expected, events);
  }

  override async setRetention(stream: string, retention: Retention): Promise<void> {
    this.expectAlive();
    return this.store.setRetention(stream, retention);
  }

  override async *read(stream: string, reading?: StreamReading) {
    await this.beforeRead();
    yield* this.store.read(stream, reading);
  }

  override lastRevision = (stream: string) => this.store.lastRevision(stream);
  override readAll = (reading: LogReading) => this.store.readAll(reading);
  override followAll = (after: bigint, filter: LogFilter, signal: AbortSignal) => this.store.followAll(after, filter, signal);
  override head = () => this.store.head();

  die(): void {
    this.left = -1;
  }

  /** Ends the interruption: appends reach the log again. */
  revive(): void {
    this.left = Infinity;
  }

  private expectAlive(): void {
    if (this.isDead) throw new Error('The process is dead.');
  }
}
