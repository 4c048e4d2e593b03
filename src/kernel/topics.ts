import type { Signals } from './signals.js';
import type { Timing } from './timing.js';

/** Signals may be lost: so often what readers wait for is looked up in the log. */
const LOOK_HEALTHY_MS = 5_000;
export const LOOK_UNHEALTHY_MS = 250;
/** A reader outlives an event store that is away; it asks again this often. */
export const STORE_RETRY_MS = 250;

/** How the readers of one topic get its events. */
export type Delivery<Reader> = Readonly<{
  subjectOf: (key: string) => string;
  /** A signal has come. */
  tell: (readers: ReadonlySet<Reader>, payload: string) => void;
  /** Delivers to the readers that are behind the log. */
  look: (readers: ReadonlySet<Reader>, key: string) => Promise<void>;
}>;

/** The readers of one thing in this process: they share one subscription and one look at the log. */
class Topic<Reader> {
  readonly readers = new Set<Reader>();
  private readonly unsubscribe: () => void;
  private cancelLook: () => void;
  private closed = false;

  constructor(
    private readonly key: string,
    private readonly signals: Signals,
    private readonly delivery: Delivery<Reader>,
    private readonly timing: Timing,
  ) {
    this.unsubscribe = signals.subscribe(delivery.subjectOf(key), (payload) => delivery.tell(this.readers, payload));
    this.cancelLook = this.lookLater();
  }

  private lookLater(): () => void {
    const afterMs = this.signals.healthy ? LOOK_HEALTHY_MS : LOOK_UNHEALTHY_MS;
    return this.timing.after(afterMs, () => void this.look(), { unref: true });
  }

  private async look(): Promise<void> {
    try {
      await this.delivery.look(this.readers, this.key);
    } catch {
      // The log is away, which its readers notice too: the next poll tries again.
    }
    if (!this.closed) this.cancelLook = this.lookLater();
  }

  close(): void {
    this.closed = true;
    this.cancelLook();
    this.unsubscribe();
  }
}

/** All that has readers in this process. */
export class Topics<Reader> {
  private readonly topics = new Map<string, Topic<Reader>>();

  constructor(
    private readonly signals: Signals,
    private readonly delivery: Delivery<Reader>,
    private readonly timing: Timing,
  ) {}

  /** From here on events are delivered to the reader, until the returned function is called. */
  join(key: string, reader: Reader): () => void {
    let topic = this.topics.get(key);
    if (!topic) this.topics.set(key, (topic = new Topic(key, this.signals, this.delivery, this.timing)));
    const joined = topic;
    joined.readers.add(reader);
    return () => {
      joined.readers.delete(reader);
      if (joined.readers.size > 0) return;
      joined.close();
      this.topics.delete(key);
    };
  }
}
