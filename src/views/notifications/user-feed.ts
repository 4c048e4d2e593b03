import { Injectable } from '@nestjs/common';
import type { Departure } from '../../kernel/departure.js';
import { EventStore, type StoredEvent, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { Signals } from '../../kernel/messaging/signals.js';
import { Timing } from '../../kernel/timing.js';
import { type Delivery, Seen, seenByAll, STORE_RETRY_MS, Topics } from '../../kernel/messaging/topics.js';

/** The subject of the signal that a user's stream has new events. */
export const userSubject = (stream: string): string => stream.replace('-', '.');

/** A reader of a stream. It is woken if the stream may have events that it has not read. */
class Reader {
  private isSignalled = true;
  private resume: (() => void) | undefined;
  readonly seen: Seen;

  constructor(
    /** The revision of the next event to read. */
    public next: number,
  ) {
    this.seen = new Seen(next - 1);
  }

  readonly wake = (): void => {
    this.isSignalled = true;
    this.resume?.();
  };

  /** Clears the wake-up before a read. A wake-up after this may be for an event that the read misses. */
  pollNow(): void {
    this.isSignalled = false;
  }

  async signalled(): Promise<void> {
    while (!this.isSignalled) await new Promise<void>((resolve) => (this.resume = resolve));
  }
}

/** The past and live events of users as one sequence, read from the log. Signals only wake readers, which also poll. */
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
      onSignal: (readers) => {
        for (const reader of readers) reader.wake();
      },
      poll: async (topics) => {
        const known = new Map([...topics].map(([stream, readers]) => [stream, seenByAll(readers)]));
        for (const [stream, revision] of await this.store.grownPast(known)) {
          for (const reader of topics.get(stream)!) if (reader.seen.isBehind(revision)) reader.wake();
        }
      },
    };
    this.topics = new Topics(signals, delivery, timing);
  }

  /** Pages of a stream after a revision, past and live. It ends without an error when aborted. Trimmed events are missing. */
  async *tail(stream: string, after: number, signal: Departure): AsyncGenerator<readonly StoredEvent[]> {
    const reader = new Reader(after + 1);
    const leave = this.topics.join(stream, reader);
    signal.addEventListener('abort', reader.wake);
    try {
      while (!signal.aborted) {
        reader.pollNow();
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
        if (!signal.aborted) await reader.signalled();
      }
    } finally {
      signal.removeEventListener('abort', reader.wake);
      leave();
    }
  }
}
