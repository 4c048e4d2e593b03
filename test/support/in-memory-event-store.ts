import type { Clock } from '../../src/kernel/clock.js';
import {
  APPEND_BYTES_MAX,
  appendBytes,
  type Appended,
  AppendTooLarge,
  categoryOf,
  EventStore,
  type ExpectedRevision,
  LOG_START,
  LogEndsEarlier,
  type LogFilter,
  type LogPage,
  type LogReading,
  type NewEvent,
  type Retention,
  type StoredEvent,
  StoreUnavailable,
  StreamGone,
  type StreamReading,
  WrongRevision,
} from '../../src/kernel/event-sourcing/event-store.js';

const PAGE_EVENTS_MAX = 256;

/** Positions are sparse, as in a real log, so that code that counts on consecutive ones fails. */
const POSITION_STEP = 7n;

/** Appends are decided on `accepted`. Readers see the first `visible` of these events. */
type Stream = { accepted: StoredEvent[]; visible: number; retention: Retention; gone: boolean };

/** The delay before accepted events become visible. Resolves when they are committed. */
export type Commit = () => Promise<void>;

/** A few turns of the microtask queue, 0 to MICROTASKS_MAX, from a counter. Timers would hang under a test's fake clock. */
const MICROTASKS_MAX = 7;
const inAFewMicrotasks = (): Commit => {
  let commits = 0;
  return async () => {
    for (let turns = (commits++ * 5) % (MICROTASKS_MAX + 1); turns > 0; turns--) await Promise.resolve();
  };
};

/**
 * The whole log in an array, for unit tests. It is held to the same contract as the real stores and is as unkind as a server: an
 * append is decided at once but committed later. Until then, an append that loses against it gets a revision that is not yet
 * readable, and an identical append has an unknown outcome. After a success the caller can read the events.
 */
export class InMemoryEventStore extends EventStore {
  private readonly log: StoredEvent[] = [];
  private committed = 0;
  private appendEnds: number[] = [];
  private committing: Promise<void> | undefined;
  private readonly streams = new Map<string, Stream>();
  private readonly waiting = new Set<() => void>();
  private failure: 'before' | 'after' | undefined;

  constructor(
    private readonly clock: Clock = { now: () => new Date() },
    private readonly commit: Commit = inAFewMicrotasks(),
  ) {
    super();
  }

  async append(name: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    if (events.length === 0) throw new RangeError('An append needs at least one event.');
    const bytes = appendBytes(events);
    if (bytes > APPEND_BYTES_MAX) throw new AppendTooLarge(name, bytes);
    this.failIf('before');
    const stream = this.streams.get(name);
    if (stream?.gone) throw new StreamGone(name);
    const appended = this.repeated(name, expected, events) ?? this.write(name, expected, events);
    this.failIf('after');
    const accepted = this.streams.get(name)!.accepted[appended.revision];
    while (this.headPosition() < appended.position) {
      await (this.committing ??= this.commitAccepted());
      if (this.streams.get(name)!.accepted[appended.revision] !== accepted)
        throw new StoreUnavailable(`What was appended to ${name} was lost with its leader.`);
    }
    return appended;
  }

  /**
   * Another leader takes over. Of the accepted appends that are not committed it has only the first `kept`, each as a whole.
   * Returns the number of lost events.
   */
  loseAccepted(kept: number): number {
    const lost = this.log.splice(kept === 0 ? this.committed : this.uncommitted[kept - 1]!);
    for (const { stream } of lost) this.streams.get(stream)!.accepted.pop();
    this.appendEnds = this.appendEnds.filter((end) => end <= this.log.length);
    return lost.length;
  }

  /** The log positions at which the accepted but uncommitted appends end. */
  get uncommitted(): readonly number[] {
    this.appendEnds = this.appendEnds.filter((end) => end > this.committed);
    return this.appendEnds;
  }

  async lastRevision(name: string): Promise<ExpectedRevision> {
    const stream = this.streams.get(name);
    if (stream?.gone) throw new StreamGone(name);
    return stream && stream.visible > 0 ? stream.visible - 1 : 'none';
  }

  async *read(
    name: string,
    { from, direction = 'forwards', limit = Infinity }: StreamReading = {},
  ): AsyncIterable<readonly StoredEvent[]> {
    const forwards = direction === 'forwards';
    const start = from ?? (forwards ? 0 : Infinity);
    const kept = this.kept(name).filter(({ revision }) => (forwards ? revision >= start : revision <= start));
    const wanted = (forwards ? kept : kept.reverse()).slice(0, limit);
    for (let at = 0; at < wanted.length; at += PAGE_EVENTS_MAX) yield wanted.slice(at, at + PAGE_EVENTS_MAX);
  }

  async *readAll({ after, filter = {}, limit = Infinity }: LogReading): AsyncIterable<LogPage> {
    let position = after;
    for (let left = limit; left > 0;) {
      const page = this.page(position, filter, Math.min(left, PAGE_EVENTS_MAX));
      yield page;
      if (page.caughtUp) return;
      left -= page.events.length;
      position = page.position;
    }
  }

  async *followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    let position: bigint | undefined;
    if (after > this.headPosition()) throw new LogEndsEarlier();
    while (!signal.aborted) {
      const page = this.page(position ?? after, filter, PAGE_EVENTS_MAX);
      if (page.position === position) {
        await this.nextAppend(signal);
        continue;
      }
      yield page;
      position = page.position;
    }
  }

  async setRetention(name: string, retention: Retention): Promise<void> {
    const stream = this.stream(name);
    const truncateBefore = Math.max(stream.retention.truncateBefore ?? 0, retention.truncateBefore ?? 0);
    stream.retention = { ...retention, truncateBefore };
  }

  async head(): Promise<bigint> {
    return this.headPosition();
  }

  /** Deletes a stream permanently. */
  bury(name: string): void {
    this.stream(name).gone = true;
  }

  /** The next append has an unknown outcome: it is lost `before` the write, or its response is lost `after` it. */
  failNextAppend(when: 'before' | 'after'): void {
    this.failure = when;
  }

  private failIf(when: 'before' | 'after'): void {
    if (this.failure !== when) return;
    this.failure = undefined;
    throw new StoreUnavailable(`The answer was lost ${when} the append was written.`);
  }

  private stream(name: string): Stream {
    let stream = this.streams.get(name);
    if (!stream) this.streams.set(name, (stream = { accepted: [], visible: 0, retention: {}, gone: false }));
    return stream;
  }

  private headPosition(): bigint {
    return this.log[this.committed - 1]?.position ?? LOG_START;
  }

  /** Makes the events visible that were accepted before it began, in the order of the log. */
  private async commitAccepted(): Promise<void> {
    const { length } = this.log;
    await this.commit();
    const end = Math.min(length, this.log.length);
    for (; this.committed < end; this.committed++) this.streams.get(this.log[this.committed]!.stream)!.visible++;
    this.committing = undefined;
    for (const wake of [...this.waiting]) wake();
  }

  /** The result of the first of two equal appends. Undefined if this is the first. */
  private repeated(name: string, expected: ExpectedRevision, events: readonly NewEvent[]): Appended | undefined {
    const stored = this.streams.get(name)?.accepted ?? [];
    const before = expected === 'none' ? -1 : expected;
    const same = events.every(({ id }, index) => stored[before + 1 + index]?.id === id);
    const last = stored[before + events.length];
    if (!same || !last) return undefined;
    if (last.position > this.headPosition()) throw new StoreUnavailable(`An identical append to ${name} is under way.`);
    return { revision: last.revision, position: last.position };
  }

  private write(name: string, expected: ExpectedRevision, events: readonly NewEvent[]): Appended {
    const current = this.streams.get(name)?.accepted.length ?? 0;
    const actual: ExpectedRevision = current === 0 ? 'none' : current - 1;
    if (actual !== expected) throw new WrongRevision(name, expected, actual);
    const stream = this.stream(name);
    for (const { id, type, data, metadata } of events) {
      const position = POSITION_STEP * BigInt(this.log.length + 1);
      const event = Object.freeze({
        id,
        type,
        data,
        metadata,
        stream: name,
        revision: stream.accepted.length,
        position,
        at: this.clock.now(),
      });
      stream.accepted.push(event);
      this.log.push(event);
    }
    this.appendEnds.push(this.log.length);
    // The commit starts even if no caller awaits it.
    this.committing ??= this.commitAccepted();
    const { revision, position } = stream.accepted.at(-1)!;
    return { revision, position };
  }

  /** The events of a stream that retention keeps. */
  private kept(name: string): StoredEvent[] {
    const stream = this.streams.get(name);
    if (stream?.gone) throw new StreamGone(name);
    const events = stream?.accepted.slice(0, stream.visible) ?? [];
    const retention: Retention = stream?.retention ?? {};
    const { maxAgeSeconds = Infinity, maxCount = Infinity, truncateBefore = 0 } = retention;
    const oldest = this.clock.now().getTime() - maxAgeSeconds * 1000;
    const first = Math.max(events.length - maxCount, truncateBefore);
    return events.filter(({ revision, at }) => revision >= first && at.getTime() >= oldest);
  }

  private page(after: bigint, filter: LogFilter, limit: number): LogPage {
    const events: StoredEvent[] = [];
    let position = after;
    for (let index = this.firstAfter(after); index < this.committed && events.length < limit; index++) {
      const event = this.log[index]!;
      if (isWanted(filter, event.stream) && (filter.types?.includes(event.type) ?? true)) events.push(event);
      position = event.position;
    }
    return { events, position, caughtUp: position >= this.headPosition() };
  }

  private firstAfter(position: bigint): number {
    return position < 0n ? 0 : Math.min(this.committed, Number(position / POSITION_STEP));
  }

  private nextAppend(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}

function isWanted({ categories, exceptCategories }: LogFilter, stream: string): boolean {
  const category = categoryOf(stream);
  return (categories?.includes(category) ?? true) && !exceptCategories?.includes(category);
}
