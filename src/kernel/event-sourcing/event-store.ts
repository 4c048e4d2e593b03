/** An event on its way into the log. `data` and `metadata` are JSON text, kept and given back byte for byte. */
export type NewEvent = Readonly<{ id: string; type: string; data: string; metadata: string }>;

/** An event in the log. Revisions count from 0 within a stream; positions are opaque, only their order means something. */
export type StoredEvent = NewEvent & Readonly<{ stream: string; revision: number; position: bigint; at: Date }>;

/** The last revision a decision saw, or `none` when it saw no stream. There is deliberately no "any". */
export type ExpectedRevision = number | 'none';

export type Appended = Readonly<{ revision: number; position: bigint }>;

/** What to follow of the whole log. Without a filter: everything but the store's own system events. */
export type LogFilter = Readonly<{
  /** Only streams of these categories: the text before the first `-`. */
  categories?: readonly string[];
  /** Everything but these categories. */
  exceptCategories?: readonly string[];
}>;

/** What to read of a stream: from a revision on, inclusive; by default from the start, or backwards from the end. */
export type StreamReading = Readonly<{ from?: number; direction?: 'forwards' | 'backwards'; limit?: number }>;

export type LogReading = Readonly<{ after: bigint; filter?: LogFilter; limit?: number }>;

/** A page of the log. `position` is how far the log was considered, also when the filter left nothing in between. */
export type LogPage = Readonly<{ events: readonly StoredEvent[]; position: bigint; caughtUp: boolean }>;

/** Events past any of these bounds leave `read` and `follow` at once; the log as a whole may keep them longer. */
export type Retention = Readonly<{
  maxAgeSeconds?: number;
  maxCount?: number;
  /** Nothing below this revision is kept. A stream that was cut off stays so: only a later cut changes anything. */
  truncateBefore?: number;
}>;

/** Events of a stream that follow one another, by their texts alone. `metadata` is that of the event that was asked for, where it is among them. */
export type StoredTexts = Readonly<{ first: number; texts: readonly string[]; metadata?: string }>;

/** Before the first event of the log, and of a stream. */
export const LOG_START = -1n;
export const STREAM_START = -1;

/** No stream grows further. */
export const REVISION_MAX = 2 ** 31 - 1;

/** The store refuses appends larger than this: the sum of data, metadata and twice the type name, in bytes. */
export const APPEND_BYTES_MAX = 1024 * 1024;

/** How many streams a store that knows no better is asked for at a time. */
const ASKED_AT_ONCE_MAX = 8;

/** Somebody else appended first (or the stream is not where the caller believes it is). */
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

/** The stream was deleted for good: it takes no further event. */
export class StreamGone extends Error {
  override readonly name = 'StreamGone';
  constructor(readonly stream: string) {
    super(`${stream} is gone.`);
  }
}

/** The append is over APPEND_BYTES_MAX; nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  constructor(
    readonly stream: string,
    readonly bytes: number,
  ) {
    super(`An append of ${bytes} bytes to ${stream} is over the limit of ${APPEND_BYTES_MAX}.`);
  }
}

/** The store did not answer in time. Of an append the outcome is unknown: repeat it with the same ids and expected revision. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

export const LOG_ENDS_EARLIER =
  'The log ends before the place up to which it was followed, as after a restore from an older backup: stop the service and run `npm run rebuild -- all`.';

/** A follower is further than the log: what is appended until the log has come to that place would be passed over. */
export class LogEndsEarlier extends Error {
  override readonly name = 'LogEndsEarlier';
  constructor() {
    super(LOG_ENDS_EARLIER);
  }
}

/**
 * The log. Appends are atomic and decided on a revision; an append repeated with the same event ids and the same
 * expected revision is the same append, and answers as the first did; where bounds hide its events by now, perhaps with a
 * later position. Iterables pull: a consumer that does not ask holds the store back, not memory. Aborting the signal ends
 * an iterable without an error.
 */
export abstract class EventStore {
  /** @throws WrongRevision, StreamGone, AppendTooLarge, StoreUnavailable */
  abstract append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended>;

  /** As `append`, and the stream has these bounds from then on. A store that can does both at once. */
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

  /** Pages of a stream; nothing when there is no such stream. */
  abstract read(stream: string, reading?: StreamReading): AsyncIterable<readonly StoredEvent[]>;

  /** The data of the events from a revision on, which is all that replaying them takes. A store that can reads less than for `read`. */
  async *readTexts(stream: string, from = 0): AsyncIterable<StoredTexts> {
    for await (const page of this.read(stream, { from })) yield* textsOf(page, from);
  }

  /**
   * The revision of the stream's newest event as far as reads show it, also of one that its bounds hide by now; `none` where reads
   * show no stream. The answer to a lost append may have named a later one: `appendWithRetry` waits until reads show that.
   */
  abstract lastRevision(stream: string): Promise<ExpectedRevision>;

  /**
   * Those of the streams that have grown past the revision given for each (STREAM_START: past none), with the revision that
   * `lastRevision` answers. A store that can asks for all of them at once.
   */
  async grownPast(known: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    const grown = new Map<string, number>();
    const left = known.entries();
    const worker = async () => {
      for (const [stream, revision] of left) {
        const last = await this.lastRevision(stream);
        if (last !== 'none' && last > revision) grown.set(stream, last);
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE_MAX }, worker));
    return grown;
  }

  /** Pages of the log after a position up to the present, then ends. */
  abstract readAll(reading: LogReading): AsyncIterable<LogPage>;

  /** A stream after a revision: the past, then what comes, through reconnects, without gap or repetition. */
  abstract follow(stream: string, after: number, signal: AbortSignal): AsyncIterable<readonly StoredEvent[]>;

  /**
   * The log after a position, in its total order: the past, then what comes. An event that commits late is never skipped.
   * @throws LogEndsEarlier where the log can be restored without those who follow it
   */
  abstract followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage>;

  abstract setRetention(stream: string, retention: Retention): Promise<void>;

  /** The position of the newest event, LOG_START when there is none. */
  abstract head(): Promise<bigint>;
}

/** A page of events as their texts. Events in between may have left the bounds of their stream, where clocks were set back. */
export function* textsOf(page: readonly StoredEvent[], from: number): Generator<StoredTexts> {
  for (let begin = 0, end = 1; begin < page.length; begin = end++) {
    while (end < page.length && page[end]!.revision === page[end - 1]!.revision + 1) end++;
    const { revision: first, metadata } = page[begin]!;
    yield { first, texts: page.slice(begin, end).map(({ data }) => data), ...(first === from && { metadata }) };
  }
}

/** The oldest event that a stream still has. */
export async function firstEvent(store: EventStore, stream: string): Promise<StoredEvent | undefined> {
  for await (const page of store.read(stream, { limit: 1 })) return page[0];
  return undefined;
}

/** The newest event of a stream, or the newest up to a revision. */
export async function lastEvent(store: EventStore, stream: string, upTo?: number): Promise<StoredEvent | undefined> {
  const from = upTo === undefined ? {} : { from: upTo };
  for await (const page of store.read(stream, { direction: 'backwards', limit: 1, ...from })) return page[0];
  return undefined;
}

/** `conversation-6f…` is of the category `conversation`. */
export const categoryOf = (stream: string): string => {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
};

/** What counts towards APPEND_BYTES_MAX. */
export const appendBytes = (events: readonly NewEvent[]): number =>
  events.reduce(
    (sum, { type, data, metadata }) => sum + 2 * type.length + Buffer.byteLength(data) + Buffer.byteLength(metadata),
    0,
  );

const BACKWARDS_EVENTS_FIRST = 64;
const BACKWARDS_EVENTS_MAX = 512;

/** Events from a revision, or the end, backwards, in reads that grow: a caller that stops early has read little. */
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
