import type { Signals } from './signals.js';
import type { Timing } from '../timing.js';

/** Signals may be lost, so the log is polled at this interval for what readers wait for. */
const POLL_HEALTHY_MS = 5_000;
export const POLL_UNHEALTHY_MS = 250;
/** The interval at which a reader retries while the event store is unavailable. */
export const STORE_RETRY_MS = 250;
/** Maximum number of topics in one poll: more would make the statement too long and block the event loop. */
export const POLLED_TOPICS_MAX = 1_000;

/** How often a reader polls for an event that reads do not show. The retention of the stream may hide it for ever. */
const VAIN_POLLS_MAX = 3;

/** The revision up to which a reader has seen its stream. */
export class Seen {
  private polledFor = -1;
  private polls = 0;

  constructor(private revision = -1) {}

  /** The reader has seen, or has given up on, everything up to this revision. */
  get known(): number {
    return this.polls < VAIN_POLLS_MAX ? this.revision : Math.max(this.revision, this.polledFor);
  }

  upTo(revision: number): void {
    this.revision = Math.max(this.revision, revision);
  }

  /** Whether the reader has to read, given the newest revision of its stream. A read may return less on a server that lags behind. */
  isBehind(revision: number): boolean {
    if (revision <= this.known) return false;
    if (revision !== this.polledFor) this.polls = 0;
    this.polledFor = revision;
    this.polls++;
    return true;
  }
}

/** The revision up to which all readers of a stream have seen it. */
export function seenByAll(readers: ReadonlySet<Readonly<{ seen: Seen }>>): number {
  let least = Infinity;
  for (const { seen } of readers) least = Math.min(least, seen.known);
  return least;
}

/** Topics by key, with the readers of each. */
export type TopicReaders<Reader> = ReadonlyMap<string, ReadonlySet<Reader>>;

/** How the readers of topics get their events. */
export type Delivery<Reader> = Readonly<{
  subjectOf: (key: string) => string;
  /** Called with the payload of a signal. */
  onSignal: (readers: ReadonlySet<Reader>, payload: string) => void;
  /** Delivers to the readers that are behind the log. */
  poll: (topics: TopicReaders<Reader>) => Promise<void>;
}>;

type Topic<Reader> = Readonly<{ readers: Set<Reader>; unsubscribe: () => void }>;

/** The topics that have readers in this process. The readers of one topic share a subscription; all topics share a timer and a poll. */
export class Topics<Reader> {
  private readonly topics = new Map<string, Topic<Reader>>();
  private cancelPoll: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly delivery: Delivery<Reader>,
    private readonly timing: Timing,
  ) {}

  /** Delivers events to the reader from now on. The returned function ends that. */
  join(key: string, reader: Reader): () => void {
    const topic = this.topics.get(key) ?? this.open(key);
    topic.readers.add(reader);
    return () => {
      topic.readers.delete(reader);
      if (topic.readers.size === 0 && this.topics.get(key) === topic) this.close(key, topic);
    };
  }

  private open(key: string): Topic<Reader> {
    const readers = new Set<Reader>();
    const unsubscribe = this.signals.subscribe(this.delivery.subjectOf(key), (payload) =>
      this.delivery.onSignal(readers, payload),
    );
    const topic = { readers, unsubscribe };
    this.topics.set(key, topic);
    this.cancelPoll ??= this.pollLater();
    return topic;
  }

  private close(key: string, { unsubscribe }: Topic<Reader>): void {
    unsubscribe();
    this.topics.delete(key);
    if (this.topics.size > 0) return;
    this.cancelPoll?.();
    this.cancelPoll = undefined;
  }

  private pollLater(): () => void {
    const afterMs = this.signals.healthy ? POLL_HEALTHY_MS : POLL_UNHEALTHY_MS;
    let isWanted = true;
    const cancel = this.timing.after(
      afterMs,
      () =>
        void this.poll().then(() => {
          if (isWanted) this.cancelPoll = this.pollLater();
        }),
      { unref: true },
    );
    return () => {
      isWanted = false;
      cancel();
    };
  }

  private async poll(): Promise<void> {
    try {
      for (const topics of this.pages()) await this.delivery.poll(topics);
    } catch {
      // The event store is unavailable, which the readers notice too. The next poll tries again.
    }
  }

  private *pages(): Generator<TopicReaders<Reader>> {
    let page = new Map<string, ReadonlySet<Reader>>();
    for (const [key, { readers }] of this.topics) {
      page.set(key, readers);
      if (page.size < POLLED_TOPICS_MAX) continue;
      yield page;
      page = new Map();
    }
    if (page.size > 0) yield page;
  }
}
