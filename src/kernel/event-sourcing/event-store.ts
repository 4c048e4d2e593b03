/** An event to append. The store keeps `data` and `metadata`, which are JSON text, byte for byte. */
export type NewEvent = Readonly<{ id: string; type: string; data: string; metadata: string }>;

/** An event in the log. Revisions count from 0 within a stream. Positions are opaque; only their order has a meaning. */
export type StoredEvent = NewEvent & Readonly<{ stream: string; revision: number; position: bigint; at: Date }>;

/** The last revision that a decision has seen, or `none` for a stream without events. There is deliberately no "any". */
export type ExpectedRevision = number | 'none';

export type Appended = Readonly<{ revision: number; position: bigint }>;

/** The part of the log to read. An empty filter selects everything except the store's own system events. */
export type LogFilter = Readonly<{
  /** Only streams of these categories. The category is the text before the first `-`. */
  categories?: readonly string[];
  /** All streams except those of these categories. */
  exceptCategories?: readonly string[];
  /** The types that the reader acts on. A store may leave out events of others, where that costs less than sending them. */
  types?: readonly string[];
}>;

/** The part of a stream to read. `from` is inclusive; by default reading starts at the first event, or backwards at the last. */
export type StreamReading = Readonly<{ from?: number; direction?: 'forwards' | 'backwards'; limit?: number }>;

export type LogReading = Readonly<{ after: bigint; filter?: LogFilter; limit?: number }>;

/** A page of the log. The log was scanned up to `position`, also where the filter matched no event. */
export type LogPage = Readonly<{ events: readonly StoredEvent[]; position: bigint; caughtUp: boolean }>;

/** Bounds of a stream. `read` skips events past a bound at once; `readAll` and `followAll` may return them longer. */
export type Retention = Readonly<{
  maxAgeSeconds?: number;
  maxCount?: number;
  /** Events below this revision are removed. The value can only grow. */
  truncateBefore?: number;
}>;

/** The data of consecutive events, from revision `first` on. `metadata` is that of the first requested event, if it is included. */
export type StoredTexts = Readonly<{ first: number; texts: readonly string[]; metadata?: string }>;

/** The positions before the first event of the log and of a stream. */
export const LOG_START = -1n;
export const STREAM_START = -1;

/** The highest revision of a stream. */
export const REVISION_MAX = 2 ** 31 - 1;

/** Maximum size of an append in bytes: the sum of data, metadata and twice the type name. */
export const APPEND_BYTES_MAX = 1024 * 1024;

/** Number of concurrent reads in the default implementation of `grownPast`. */
const ASKED_AT_ONCE_MAX = 8;

/** The stream is not at the expected revision: another append was first, or the caller was wrong. */
export class WrongRevision extends Error {
  override readonly name = 'WrongRevision';
  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision | 'unknown',
  ) {
    super(`${stream} is at ${actual}, not at ${expected}.`);
  }
}

/** The stream was deleted for ever and accepts no further event. */
export class StreamGone extends Error {
  override readonly name = 'StreamGone';
  constructor(readonly stream: string) {
    super(`${stream} is gone.`);
  }
}

/** For an error of what is done to a stream: nothing is left to do where that is gone. @throws any other error */
export function nothingIfGone(error: unknown): undefined {
  if (!(error instanceof StreamGone)) throw error;
}

/** The append exceeds APPEND_BYTES_MAX. Nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  constructor(
    readonly stream: string,
    readonly bytes: number,
  ) {
    super(`An append of ${bytes} bytes to ${stream} is over the limit of ${APPEND_BYTES_MAX}.`);
  }
}

/** The store did not answer in time. The outcome of an append is unknown: repeat it with the same ids and expected revision. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

const AFTER_RESTORE = 'as after a restore from an older backup: stop the service and run `npm run rebuild -- all`.';
export const LOG_ENDS_EARLIER = `The log ends before the place up to which it was followed, ${AFTER_RESTORE}`;
export const LOG_DIFFERS = `The log has no event at the place up to which it was followed, ${AFTER_RESTORE}`;

/** A follower is ahead of the log. It would skip the events that are appended until the log reaches its position. */
export class LogEndsEarlier extends Error {
  override readonly name: string = 'LogEndsEarlier';
  constructor(text = LOG_ENDS_EARLIER) {
    super(text);
  }
}

/** The log has reached a follower's position again, with other events. Only some stores notice that. */
export class LogDiffers extends LogEndsEarlier {
  override readonly name = 'LogDiffers';
  constructor() {
    super(LOG_DIFFERS);
  }
}

/**
 * The log. An append is atomic and succeeds only at its expected revision. An append that is repeated with the same event ids and
 * expected revision is idempotent: it returns what the first returned, or a later position if bounds hide its events by now.
 * Iterables are pulled: a slow consumer slows the store and does not fill memory. Aborting the signal ends an iterable without an
 * error.
 */
export abstract class EventStore {
  /** @throws WrongRevision, StreamGone, AppendTooLarge, StoreUnavailable */
  abstract append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended>;

  /** Appends, and sets the bounds of the stream. A store may override this to do both in one step. */
  async appendWithin(
    bounds: Retention,
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    const appended = await this.append(stream, expected, events);
    await this.setRetention(stream, bounds);
    return appended;
  }

  /** The pages of a stream; none if the stream does not exist. */
  abstract read(stream: string, reading?: StreamReading): AsyncIterable<readonly StoredEvent[]>;

  /** The data of the events from a revision on, which is what a replay needs. A store may override this to read less. */
  async *readTexts(stream: string, from = 0): AsyncIterable<StoredTexts> {
    for await (const page of this.read(stream, { from })) yield* textsOf(page, from);
  }

  /**
   * The revision of the newest event that reads know, even if bounds hide it; `none` if reads show no stream. It may be lower than
   * the revision that a lost append reported: `appendWithRetry` waits until reads show that one.
   */
  abstract lastRevision(stream: string): Promise<ExpectedRevision>;

  /**
   * The streams that have grown past the known revision of each (STREAM_START: the stream has any event), with their
   * `lastRevision`. A store may override this to read them all at once.
   */
  async grownPast(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    const grown = new Map<string, number>();
    const left = known.entries();
    const worker = async () => {
      for (const [stream, revision] of left) {
        const last = await this.lastRevision(stream).catch(nothingIfGone);
        if (typeof last === 'number' && last > revision) grown.set(stream, last);
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE_MAX }, worker));
    return grown;
  }

  /** The pages of the log after a position, up to its present end. @throws LogDiffers if the store finds no event there */
  abstract readAll(reading: LogReading): AsyncIterable<LogPage>;

  /**
   * The log after a position, in its total order: the stored events, then new ones, through reconnects, without gap or repetition.
   * An event that commits late is never skipped.
   * @throws LogEndsEarlier if the log was restored to a state before the position; LogDiffers if it has grown past it since
   */
  abstract followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage>;

  /**
   * Sets the bounds of a stream from now on. A `maxAgeSeconds` or `maxCount` that is left out ends; a `truncateBefore` that is left
   * out stays. A stream that was deleted for good keeps nothing anyway.
   */
  abstract setRetention(stream: string, retention: Retention): Promise<void>;

  /** The position of the newest event; LOG_START in an empty log. */
  abstract head(): Promise<bigint>;

  /** The position that the log has reached. Unlike `head`, it also counts newest events that were deleted since. */
  end(): Promise<bigint> {
    return this.head();
  }
}

/** Splits a page into runs of consecutive events. Revisions have gaps where a clock was set back and `maxAge` hides events in between. */
export function* textsOf(page: readonly StoredEvent[], from: number): Generator<StoredTexts> {
  for (let begin = 0, end = 1; begin < page.length; begin = end++) {
    while (end < page.length && page[end]!.revision === page[end - 1]!.revision + 1) end++;
    const { revision: first, metadata } = page[begin]!;
    yield { first, texts: page.slice(begin, end).map(({ data }) => data), ...(first === from && { metadata }) };
  }
}

/** The oldest event of a stream that its bounds have kept. */
export async function firstEvent(store: EventStore, stream: string): Promise<StoredEvent | undefined> {
  for await (const page of store.read(stream, { limit: 1 })) return page[0];
  return undefined;
}

/** The newest event of a stream. */
export async function lastEvent(store: EventStore, stream: string): Promise<StoredEvent | undefined> {
  for await (const page of store.read(stream, { direction: 'backwards', limit: 1 })) return page[0];
  return undefined;
}

/**
 * The event of a stream with this revision; undefined if its bounds no longer keep it. A leader that was replaced while it was
 * frozen shows an older state until it notices. @throws StoreUnavailable if reads do not show that the stream has had this revision
 */
export async function eventAt(store: EventStore, stream: string, revision: number): Promise<StoredEvent | undefined> {
  for await (const [event] of store.read(stream, { from: revision, limit: 1 })) if (event?.revision === revision) return event;
  const last = await store.lastRevision(stream).catch(nothingIfGone);
  if (last === 'none' || (last !== undefined && last < revision))
    throw new StoreUnavailable(`Revision ${revision} of ${stream} cannot be read yet.`);
  return undefined;
}

/** Whether the log can be read after a position. A restored log that has grown past it may have no event there. */
export async function isPlaceIn(log: Pick<EventStore, 'readAll'>, position: bigint): Promise<boolean> {
  try {
    for await (const _ of log.readAll({ after: position, limit: 1 })) break;
    return true;
  } catch (error) {
    if (error instanceof LogDiffers) return false;
    throw error;
  }
}

/** The category of a stream: `conversation` for `conversation-6f…`. */
export const categoryOf = (stream: string): string => {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
};

/** The size of an append in bytes, as APPEND_BYTES_MAX counts it. */
export const appendBytes = (events: readonly NewEvent[]): number =>
  events.reduce(
    (sum, { type, data, metadata }) => sum + 2 * type.length + Buffer.byteLength(data) + Buffer.byteLength(metadata),
    0,
  );

const BACKWARDS_EVENTS_FIRST = 64;
const BACKWARDS_EVENTS_MAX = 512;

/** Events backwards from a revision or the end. The pages grow, so a caller that stops early has read little. */
export async function* eventsBackwards(
  store: Pick<EventStore, 'read'>,
  stream: string,
  { from, limit = Infinity }: Pick<StreamReading, 'from' | 'limit'> = {},
): AsyncGenerator<StoredEvent> {
  let left = limit;
  let place = from;
  for (let step = BACKWARDS_EVENTS_FIRST; left > 0 && place !== -1; step = Math.min(2 * step, BACKWARDS_EVENTS_MAX)) {
    const wanted = Math.min(step, left);
    let read = 0;
    for await (const page of store.read(stream, {
      direction: 'backwards',
      limit: wanted,
      ...(place !== undefined && { from: place }),
    })) {
      for (const stored of page) {
        yield stored;
        read += 1;
        place = stored.revision - 1;
      }
    }
    if (read < wanted) return;
    left -= read;
  }
}
