import { LRUCache } from 'lru-cache';
import { AppendTooLarge, type ExpectedRevision, StreamGone, WrongRevision } from '../../kernel/event-sourcing/event-store.js';

/** Maximum number of streams whose ends are known, about 200 bytes each. */
export const KNOWN_ENDS_MAX = 20_000;
/** Maximum number of streams with an undecided append. With more of them, no end is known until the process is restarted. */
export const UNDECIDED_MAX = 10_000;

/** What is known of the end of a stream. Each append replaces the object, so a read that began before it has a stale one. */
type End = { next: number | undefined };
type Appending = { count: number; haveOverlapped: boolean };

/**
 * The ends of streams, as the only writer of a log knows them. A read up to the end of a stream finds its end, and an append that
 * succeeds there moves it. While an append is under way the end is unknown, because its event can be read before the append is
 * acknowledged. An append without an answer may still be written, until another event is read in its place.
 */
export class KnownEnds {
  private readonly ends = new LRUCache<string, End>({ max: KNOWN_ENDS_MAX });
  private readonly appending = new Map<string, Appending>();
  /** For each stream the highest revision at which an append without an answer would be written. */
  private readonly undecided = new Map<string, number>();
  private isAnyKnown = true;

  /** Whether reads show no event of the stream with this revision or a later one. */
  isPast(stream: string, revision: number): boolean {
    if (this.appending.has(stream)) return false;
    const next = this.ends.get(stream)?.next;
    return next !== undefined && revision >= next;
  }

  /** Notes that a read begins. At the end of the stream, the result is called with the revision after the last event. */
  reading(stream: string, from: number): (next: number) => void {
    const end = this.ends.get(stream) ?? { next: undefined };
    this.ends.set(stream, end);
    return (next) => {
      if (this.ends.peek(stream) !== end || !this.isAnyKnown) return;
      const undecided = this.undecided.get(stream);
      if (undecided !== undefined && (next === from || next <= undecided)) return;
      this.undecided.delete(stream);
      end.next = next;
    };
  }

  /** Runs an append. */
  async appended<T extends { revision: number }>(
    stream: string,
    expected: ExpectedRevision,
    append: () => Promise<T>,
  ): Promise<T> {
    const first = expected === 'none' ? 0 : expected + 1;
    const wasAtEnd = this.ends.peek(stream)?.next === first;
    const appending = this.begin(stream);
    let next: number | undefined;
    try {
      const done = await append();
      if (wasAtEnd && !appending.haveOverlapped) next = done.revision + 1;
      return done;
    } catch (error) {
      if (!isRefusal(error)) this.noteUndecided(stream, first);
      throw error;
    } finally {
      if (--appending.count === 0) this.appending.delete(stream);
      this.ends.set(stream, { next });
    }
  }

  /** Forgets an end, because other bounds may show events that were hidden. */
  forget(stream: string): void {
    this.ends.delete(stream);
  }

  private begin(stream: string): Appending {
    const appending = this.appending.get(stream) ?? { count: 0, haveOverlapped: false };
    this.appending.set(stream, appending);
    if (++appending.count > 1) appending.haveOverlapped = true;
    return appending;
  }

  private noteUndecided(stream: string, first: number): void {
    this.undecided.set(stream, Math.max(first, this.undecided.get(stream) ?? first));
    if (this.undecided.size <= UNDECIDED_MAX) return;
    this.isAnyKnown = false;
    this.ends.clear();
    this.undecided.clear();
  }
}

/** Whether the store has refused the append, so that it is not written later. */
const isRefusal = (error: unknown): boolean =>
  error instanceof WrongRevision || error instanceof AppendTooLarge || error instanceof StreamGone;
