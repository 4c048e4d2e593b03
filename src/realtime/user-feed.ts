import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { EventStore, lastEvent, type StoredEvent, StoreUnavailable } from '../kernel/event-store.js';
import { Signals } from '../kernel/signals.js';

/** Signals may be lost: so often a waiting reader's stream is looked up in the log. */
export const LOOK_HEALTHY_MS = 5_000;
export const LOOK_UNHEALTHY_MS = 250;
/** A reader outlives an event store that is away; it asks again this often. */
const STORE_RETRY_MS = 250;

/** A signal on it says that the user's stream has grown. */
export const userSubject = (stream: string): string => stream.replace('-', '.');

/** The readers of one user's stream in this process: they share one subscription and one look at the log. */
class Topic {
  readonly readers = new Set<Reader>();
  private readonly unsubscribe: () => void;
  private timer: NodeJS.Timeout;
  private closed = false;

  constructor(
    private readonly stream: string,
    private readonly store: EventStore,
    private readonly signals: Signals,
  ) {
    this.unsubscribe = signals.subscribe(userSubject(stream), () => this.wakeAll());
    this.timer = this.lookLater();
  }

  private wakeAll(): void {
    for (const reader of this.readers) reader.wake();
  }

  private lookLater(): NodeJS.Timeout {
    return setTimeout(() => void this.look(), this.signals.healthy ? LOOK_HEALTHY_MS : LOOK_UNHEALTHY_MS).unref();
  }

  private async look(): Promise<void> {
    try {
      const last = await lastEvent(this.store, this.stream);
      for (const reader of this.readers) if (last && last.revision >= reader.next) reader.wake();
    } catch {
      // The log is away, as whoever reads it finds out too: the next look tells.
    }
    if (!this.closed) this.timer = this.lookLater();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.unsubscribe();
  }
}

/** One who reads a stream, and whether there may be something it has not looked for. */
class Reader {
  private isWoken = true;
  private resume: (() => void) | undefined;

  constructor(
    /** The revision it wants. */
    public next: number,
  ) {}

  readonly wake = (): void => {
    this.isWoken = true;
    this.resume?.();
  };

  /** From here on a wake-up is about something that the coming look may miss. */
  lookNow(): void {
    this.isWoken = false;
  }

  async woken(): Promise<void> {
    while (!this.isWoken) await new Promise<void>((resolve) => (this.resume = resolve));
  }
}

/** The events of users, past and live, as one thing, read from the log; signals only save looking at it. */
@Injectable()
export class UserFeed {
  private readonly topics = new Map<string, Topic>();

  constructor(
    private readonly store: EventStore,
    private readonly signals: Signals,
  ) {}

  /** Pages of a stream after a revision, then what comes; ends quietly when aborted. Events that were trimmed are missing. */
  async *tail(stream: string, after: number, signal: AbortSignal): AsyncGenerator<readonly StoredEvent[]> {
    const reader = new Reader(after + 1);
    const leave = this.join(stream, reader);
    signal.addEventListener('abort', reader.wake);
    try {
      while (!signal.aborted) {
        reader.lookNow();
        try {
          for await (const page of this.store.read(stream, { from: reader.next })) {
            reader.next = page.at(-1)!.revision + 1;
            yield page;
            if (signal.aborted) return;
          }
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error;
          await pause(STORE_RETRY_MS, undefined, { ref: false });
          continue;
        }
        if (!signal.aborted) await reader.woken();
      }
    } finally {
      signal.removeEventListener('abort', reader.wake);
      leave();
    }
  }

  private join(stream: string, reader: Reader): () => void {
    let topic = this.topics.get(stream);
    if (!topic) this.topics.set(stream, (topic = new Topic(stream, this.store, this.signals)));
    const joined = topic;
    joined.readers.add(reader);
    return () => {
      joined.readers.delete(reader);
      if (joined.readers.size > 0) return;
      joined.close();
      this.topics.delete(stream);
    };
  }

  /** How many users have readers here: for tests that nothing leaks. */
  get topicCount(): number {
    return this.topics.size;
  }
}
