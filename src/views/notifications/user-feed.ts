import { Injectable } from '@nestjs/common';
import type { Departure } from '../../kernel/departure.js';
import { EventStore, type StoredEvent, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { Signals } from '../../kernel/signals.js';
import { Timing } from '../../kernel/timing.js';
import { type Delivery, Seen, seenByAll, STORE_RETRY_MS, Topics } from '../../kernel/topics.js';

/** A signal on it says that the user's stream has grown. */
export const userSubject = (stream: string): string => stream.replace('-', '.');

/** One who reads a stream, and whether there may be something it has not looked for. */
class Reader {
  private isWoken = true;
  private resume: (() => void) | undefined;
  readonly seen: Seen;

  constructor(
    /** The revision it wants. */
    public next: number,
  ) {
    this.seen = new Seen(next - 1);
  }

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
  private readonly topics: Topics<Reader>;

  constructor(
    private readonly store: EventStore,
    signals: Signals,
    private readonly timing: Timing,
  ) {
    const delivery: Delivery<Reader> = {
      subjectOf: userSubject,
      tell: (readers) => {
        for (const reader of readers) reader.wake();
      },
      look: async (topics) => {
        const known = new Map([...topics].map(([stream, readers]) => [stream, seenByAll(readers)]));
        for (const [stream, revision] of await this.store.grownPast(known)) {
          for (const reader of topics.get(stream)!) if (reader.seen.isBehind(revision)) reader.wake();
        }
      },
    };
    this.topics = new Topics(signals, delivery, timing);
  }

  /** Pages of a stream after a revision, then what comes; ends quietly when aborted. Events that were trimmed are missing. */
  async *tail(stream: string, after: number, signal: Departure): AsyncGenerator<readonly StoredEvent[]> {
    const reader = new Reader(after + 1);
    const leave = this.topics.join(stream, reader);
    signal.addEventListener('abort', reader.wake);
    try {
      while (!signal.aborted) {
        reader.lookNow();
        try {
          for await (const page of this.store.read(stream, { from: reader.next })) {
            reader.next = page.at(-1)!.revision + 1;
            reader.seen.upTo(reader.next - 1);
            yield page;
            if (signal.aborted) return;
          }
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error;
          await new Promise<void>((resolve) => this.timing.after(STORE_RETRY_MS, resolve, { unref: true }));
          continue;
        }
        if (!signal.aborted) await reader.woken();
      }
    } finally {
      signal.removeEventListener('abort', reader.wake);
      leave();
    }
  }
}
