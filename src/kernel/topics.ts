import type { Signals } from './signals.js';
import type { Timing } from './timing.js';

/** Signals may be lost: so often what readers wait for is looked up in the log. */
const LOOK_HEALTHY_MS = 5_000;
export const LOOK_UNHEALTHY_MS = 250;
/** A reader outlives an event store that is away; it asks again this often. */
export const STORE_RETRY_MS = 250;
/** So many topics are looked up at once: more of them must neither make one long statement nor hold the process up. */
export const LOOK_TOPICS_MAX = 1_000;

/** So often a reader looks for an event that it does not find: where bounds of the stream hide it, it would look for ever. */
const LOOKS_IN_VAIN_MAX = 3;

/** How far a reader has seen its stream. */
export class Seen {
  private lookedFor = -1;
  private looks = 0;

  constructor(private revision = -1) {}

  /** Past this revision there may be something for it. */
  get known(): number {
    return this.looks < LOOKS_IN_VAIN_MAX ? this.revision : Math.max(this.revision, this.lookedFor);
  }

  upTo(revision: number): void {
    this.revision = Math.max(this.revision, revision);
  }

  /** Whether it is to look now that its stream has come to a revision. A look may find less, where a server is behind the others. */
  isBehind(revision: number): boolean {
    if (revision <= this.known) return false;
    if (revision !== this.lookedFor) this.looks = 0;
    this.lookedFor = revision;
    this.looks++;
    return true;
  }
}

/** The revision that all readers of a stream have seen it up to. */
export function seenByAll(readers: ReadonlySet<Readonly<{ seen: Seen }>>): number {
  let least = Infinity;
  for (const { seen } of readers) least = Math.min(least, seen.known);
  return least;
}

/** The readers of each of some topics. */
export type TopicReaders<Reader> = ReadonlyMap<string, ReadonlySet<Reader>>;

/** How the readers of one topic get its events. */
export type Delivery<Reader> = Readonly<{
  subjectOf: (key: string) => string;
  /** A signal has come. */
  tell: (readers: ReadonlySet<Reader>, payload: string) => void;
  /** Delivers to the readers that are behind the log. */
  look: (topics: TopicReaders<Reader>) => Promise<void>;
}>;

type Topic<Reader> = Readonly<{ readers: Set<Reader>; unsubscribe: () => void }>;

/** All that has readers in this process: those of one topic share a subscription, and all topics one timer and one look at the log. */
export class Topics<Reader> {
  private readonly topics = new Map<string, Topic<Reader>>();
  private cancelLook: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly delivery: Delivery<Reader>,
    private readonly timing: Timing,
  ) {}

  /** From here on events are delivered to the reader, until the returned function is called. */
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
    const unsubscribe = this.signals.subscribe(this.delivery.subjectOf(key), (payload) => this.delivery.tell(readers, payload));
    const topic = { readers, unsubscribe };
    this.topics.set(key, topic);
    this.cancelLook ??= this.lookLater();
    return topic;
  }

  private close(key: string, { unsubscribe }: Topic<Reader>): void {
    unsubscribe();
    this.topics.delete(key);
    if (this.topics.size > 0) return;
    this.cancelLook?.();
    this.cancelLook = undefined;
  }

  private lookLater(): () => void {
    const afterMs = this.signals.healthy ? LOOK_HEALTHY_MS : LOOK_UNHEALTHY_MS;
    let isWanted = true;
    const cancel = this.timing.after(
      afterMs,
      () =>
        void this.look().then(() => {
          if (isWanted) this.cancelLook = this.lookLater();
        }),
      { unref: true },
    );
    return () => {
      isWanted = false;
      cancel();
    };
  }

  private async look(): Promise<void> {
    try {
      for (const topics of this.pages()) await this.delivery.look(topics);
    } catch {
      // The log is away, which its readers notice too: the next poll tries again.
    }
  }

  private *pages(): Generator<TopicReaders<Reader>> {
    let page = new Map<string, ReadonlySet<Reader>>();
    for (const [key, { readers }] of this.topics) {
      page.set(key, readers);
      if (page.size < LOOK_TOPICS_MAX) continue;
      yield page;
      page = new Map();
    }
    if (page.size > 0) yield page;
  }
}
