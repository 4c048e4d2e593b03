import {
  bounded,
  type Bounds,
  boundsIn,
  isMetastream,
  metastreamOf,
  NO_BOUNDS,
  ONLY_NEWEST,
  originalOf,
  UNBOUNDED,
} from './bounds.js';
import { since } from './visible.js';

/** An event as the server stores it. Times are 100 ns ticks since 1970, positions are byte offsets in the log. */
export type LogRecord = Readonly<{
  id: string;
  stream: string;
  revision: number;
  position: bigint;
  created: bigint;
  type: string;
  contentType: string;
  data: Uint8Array;
  metadata: Uint8Array;
}>;

export type Proposed = Pick<LogRecord, 'id' | 'type' | 'contentType' | 'data' | 'metadata'>;

/** The expected revision of an append. The wire has -2 to -4 for the named expectations. */
export type Expectation = 'any' | 'no_stream' | 'stream_exists' | number;

export type Outcome =
  /** `hidden`: readers no longer see any of the events. */
  | Readonly<{ kind: 'done'; revision: number; position: bigint; hidden?: boolean }>
  /** The same append was accepted earlier and is not committed yet. */
  | Readonly<{ kind: 'under-way' }>
  | Readonly<{ kind: 'wrong'; current: number | undefined }>
  | Readonly<{ kind: 'deleted' }>;

/** Appends are decided on `records`. Readers see the first `committed` of them, except the first `scavenged`. */
type Stream = { records: LogRecord[]; committed: number; scavenged: number; byId: Map<string, LogRecord>; tombstoned: boolean };

const RECORD_OVERHEAD_BYTES = 64n;
const TOMBSTONE = '$streamDeleted';

/**
 * The server's transaction log: it decides appends and shows streams. An append is accepted first, and counts for later appends.
 * Readers see it once it is committed.
 */
export class Log {
  /** The committed events, in the order of the log. */
  records: LogRecord[] = [];
  private accepted: LogRecord[] = [];
  private readonly committedAt = new WeakMap<LogRecord, number>();
  private readonly streams = new Map<string, Stream>();
  private readonly listeners = new Set<() => void>();
  private end = 0n;
  /** The end of the log at the last scavenge. The server has a map of the positions before. */
  private scavengedUpTo = -1n;

  /** @param keep Called with the records that are about to be committed. */
  constructor(private readonly keep: (records: readonly LogRecord[]) => void = () => {}) {}

  /** Whether readers see everything up to a position. */
  hasCommitted(position: bigint): boolean {
    return (this.records.at(-1)?.position ?? -1n) >= position;
  }

  /** The records that are accepted and not yet committed. */
  get underWay(): readonly LogRecord[] {
    return [...this.accepted];
  }

  /** Makes these accepted records visible to readers. */
  commit(underWay: readonly LogRecord[]): void {
    this.accepted = this.accepted.slice(underWay.length);
    this.keep(underWay);
    for (const record of underWay) {
      this.stream(record.stream).committed += 1;
      this.committedAt.set(record, Date.now());
      this.records.push(record);
    }
    const listeners = [...this.listeners];
    this.listeners.clear();
    for (const listener of listeners) listener();
  }

  /** Drops the accepted records that are not committed, like a new leader that never received them. */
  abandon(): void {
    for (const { stream: name, id, type } of this.accepted.splice(0).reverse()) {
      const stream = this.stream(name);
      stream.records.pop();
      stream.byId.delete(id);
      if (type === TOMBSTONE) stream.tombstoned = false;
    }
  }

  /** Deletes the events that the bounds of streams hide, like a scavenge. The newest event of each stream remains. */
  scavenge(): void {
    for (const [name, stream] of this.streams) {
      const visible = this.visible(name);
      const first = visible === 'deleted' ? undefined : visible?.[0]?.revision;
      stream.scavenged = Math.min(first ?? Infinity, Math.max(0, stream.committed - 1));
    }
    this.scavengedUpTo = this.records.at(-1)?.position ?? -1n;
    this.records = this.records.filter(({ stream, revision }) => revision >= this.stream(stream).scavenged);
  }

  append(name: string, expected: Expectation, events: readonly Proposed[]): Outcome {
    const stream = this.stream(name);
    if (stream.tombstoned || this.stream(originalOf(name)).tombstoned) return { kind: 'deleted' };
    const current = stream.records.length - 1;
    const wrong: Outcome = { kind: 'wrong', current: current < 0 ? undefined : current };
    const deleted = this.bounds(name).before === UNBOUNDED;
    const write = () => (deleted ? this.revive(name, current + 1, events) : this.write(name, events));
    if (expected === 'stream_exists' && deleted) return { kind: 'deleted' };
    if (expected === 'stream_exists' && current < 0 && !this.hasMetadata(name)) return wrong;
    if (expected === 'any' || expected === 'stream_exists') return this.knownById(stream, events, wrong) ?? write();
    if (expected === 'no_stream' && deleted) return write();
    const before = expected === 'no_stream' ? -1 : expected;
    if (before > current) return wrong;
    if (before === current) return write();
    return this.knownByPlace(stream, before, events) ?? wrong;
  }

  /** Hides all events. The stream accepts further appends. */
  delete(name: string, expected: Expectation): Outcome {
    return this.remove(name, expected, () => this.writeBounds(name, UNBOUNDED));
  }

  /** Ends the stream permanently. */
  tombstone(name: string, expected: Expectation): Outcome {
    return this.remove(name, expected, () => {
      const outcome = this.write(name, [
        {
          id: crypto.randomUUID(),
          type: TOMBSTONE,
          contentType: 'application/octet-stream',
          data: new Uint8Array(),
          metadata: new Uint8Array(),
        },
      ]);
      return outcome;
    });
  }

  /** The visible events of a stream, now or for a follower that lags. Undefined if there is no such stream. */
  visible(name: string, lagMs = 0): readonly LogRecord[] | 'deleted' | undefined {
    const stream = this.streams.get(name);
    let count = stream?.committed ?? 0;
    while (lagMs > 0 && count > 0 && this.isYoung(stream!.records[count - 1]!, lagMs)) count--;
    const shown = stream?.records.slice(0, count) ?? [];
    if (shown.at(-1)?.type === TOMBSTONE || (isMetastream(name) && this.visible(originalOf(name)) === 'deleted'))
      return 'deleted';
    const bounds = this.bounds(name);
    if (shown.length === 0 || bounds.before === UNBOUNDED) return undefined;
    return since(bounded(shown, bounds), stream!.scavenged);
  }

  private isYoung(record: LogRecord, ms: number): boolean {
    return (this.committedAt.get(record) ?? 0) > Date.now() - ms;
  }

  /** The last committed revision of a stream, even if bounds hide it. */
  lastRevision(name: string): number {
    return (this.streams.get(name)?.committed ?? 0) - 1;
  }

  /** Whether a read may begin at a position: at a record or beyond the end, but not within a record. */
  isPlace(position: bigint): boolean {
    const record = this.records[this.indexOf(position)];
    return record === undefined || record.position === position || position <= this.scavengedUpTo;
  }

  /** The index of the first record at or past a position. */
  indexOf(position: bigint): number {
    let low = 0;
    let high = this.records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.records[middle]!.position < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Calls the listener once, after the next write. Returns a function that cancels it. */
  onNextWrite(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Restores a record that an earlier run kept. */
  restore(record: LogRecord): void {
    this.accept(record);
    this.stream(record.stream).committed += 1;
    this.records.push(record);
  }

  private accept(record: LogRecord): void {
    const stream = this.stream(record.stream);
    stream.records.push(record);
    stream.byId.set(record.id, record);
    stream.tombstoned ||= record.type === TOMBSTONE;
    this.end = record.position + sizeOf(record);
  }

  private remove(name: string, expected: Expectation, how: () => Outcome): Outcome {
    const stream = this.stream(name);
    const current = stream.records.length - 1;
    if (stream.tombstoned) return { kind: 'deleted' };
    if (current < 0 || (typeof expected === 'number' && expected !== current) || expected === 'no_stream') {
      return { kind: 'wrong', current: current < 0 ? undefined : current };
    }
    return how();
  }

  private revive(name: string, before: number, events: readonly Proposed[]): Outcome {
    const outcome = this.write(name, events);
    this.writeBounds(name, BigInt(before));
    return outcome;
  }

  private writeBounds(name: string, before: bigint): Outcome {
    const data = Buffer.from(`{"$tb":${before}}`);
    return this.write(metastreamOf(name), [
      { id: crypto.randomUUID(), type: '$metadata', contentType: 'application/json', data, metadata: new Uint8Array() },
    ]);
  }

  /**
   * Best effort by id: if all ids are known, the append is a repetition. If the first is known and a later one is not, it
   * conflicts.
   */
  private knownById({ byId }: Stream, events: readonly Proposed[], wrong: Outcome): Outcome | undefined {
    const known = events.map(({ id }) => byId.get(id));
    const last = known.at(-1);
    if (last && known.every((record) => record)) return this.known(last);
    return known[0] ? wrong : undefined;
  }

  /** Exact by revision: the same ids in the same order directly after the expected revision. */
  private knownByPlace({ records, scavenged }: Stream, before: number, events: readonly Proposed[]): Outcome | undefined {
    if (before + 1 < scavenged) return undefined;
    const same = events.every(({ id }, index) => records[before + 1 + index]?.id === id);
    const last = records[before + events.length];
    return same && last ? this.known(last) : undefined;
  }

  private known(record: LogRecord): Outcome {
    const { stream, revision, position } = record;
    if (!this.hasCommitted(position)) return { kind: 'under-way' };
    const visible = this.visible(stream);
    const hidden = visible === undefined || visible === 'deleted' || !visible.includes(record);
    return { kind: 'done', revision, position, hidden };
  }

  private write(name: string, events: readonly Proposed[]): Outcome {
    const stream = this.stream(name);
    const created = BigInt(Date.now()) * 10_000n;
    const written: LogRecord[] = [];
    let position = this.end;
    for (const event of events) {
      const record = { ...event, stream: name, revision: stream.records.length + written.length, position, created };
      position += sizeOf(record);
      written.push(record);
    }
    for (const record of written) this.accept(record);
    this.accepted.push(...written);
    const last = written.at(-1);
    return {
      kind: 'done',
      revision: last?.revision ?? Math.max(0, stream.records.length - 1),
      position: last?.position ?? this.end,
    };
  }

  private stream(name: string): Stream {
    let stream = this.streams.get(name);
    if (!stream)
      this.streams.set(name, (stream = { records: [], committed: 0, scavenged: 0, byId: new Map(), tombstoned: false }));
    return stream;
  }

  private hasMetadata(name: string): boolean {
    return (this.streams.get(metastreamOf(name))?.records.length ?? 0) > 0;
  }

  /** The bounds of a stream, from its newest metadata. */
  private bounds(name: string): Bounds {
    if (isMetastream(name)) return ONLY_NEWEST;
    const newest = this.streams.get(metastreamOf(name))?.records.at(-1);
    return newest ? boundsIn(newest.data) : NO_BOUNDS;
  }
}

const sizeOf = ({ data, metadata, type }: Proposed): bigint =>
  RECORD_OVERHEAD_BYTES + BigInt(data.length + metadata.length + 2 * type.length);
