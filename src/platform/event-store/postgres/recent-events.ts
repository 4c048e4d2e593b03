import { categoryOf, type LogFilter, type LogPage, type StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { FRAMES, isWanted } from '../wanted.js';
import { PAGE_EVENTS_MAX } from './event-rows.js';

export const RECENT_BYTES_MAX = 8 * 1024 * 1024;
/** How long events are held, in milliseconds of this process's clock. */
export const RECENT_MS = 900;

type Held = Readonly<{ event: StoredEvent; since: number }>;

/**
 * The events that this process has just committed, so that followers of the log need not read them from the database. It holds a
 * section of the log without gaps, apart from frames: they are most of the log, and no follower of the log wants them. After an
 * append of another process it starts a new section.
 */
export class RecentEvents {
  private log: Held[] = [];
  /** The section contains the positions after `after` up to `last`. */
  private after: bigint | undefined;
  private last: bigint | undefined;
  private bytes = 0;

  constructor(private readonly now = () => performance.now()) {}

  /** Adds the events of appends, in log order. */
  add(appends: readonly (readonly StoredEvent[])[]): void {
    const since = this.now();
    for (const events of appends) {
      const { position: first, stream } = events[0]!;
      if (this.last !== undefined && first <= this.last) continue;
      if (this.last !== undefined && first !== this.last + 1n) this.clear();
      this.after ??= first - 1n;
      this.last = events.at(-1)!.position;
      if (categoryOf(stream) === FRAMES) continue;
      for (const event of events) {
        this.log.push({ event, since });
        this.bytes += sizeOf(event);
      }
    }
    this.trim(since - RECENT_MS);
  }

  /** The page after a position, if it is held. */
  ofLog(after: bigint, filter: LogFilter): LogPage | undefined {
    if (this.last === undefined || after < this.after! || after >= this.last || isWanted(filter, FRAMES)) return undefined;
    // Searches from the end, because most followers are there.
    const skip = this.log.findLastIndex(({ event }) => event.position <= after) + 1;
    const considered = this.log.slice(skip, skip + PAGE_EVENTS_MAX).map(({ event }) => event);
    const caughtUp = skip + considered.length === this.log.length;
    return {
      events: considered.filter(({ stream }) => isWanted(filter, categoryOf(stream))),
      position: caughtUp ? this.last : considered.at(-1)!.position,
      caughtUp,
    };
  }

  private trim(oldest: number): void {
    let dropped = 0;
    while (dropped < this.log.length && (this.bytes > RECENT_BYTES_MAX || this.log[dropped]!.since < oldest)) {
      const { event } = this.log[dropped++]!;
      this.after = event.position;
      this.bytes -= sizeOf(event);
    }
    if (dropped > 0) this.log.splice(0, dropped);
  }

  private clear(): void {
    this.log = [];
    this.after = this.last = undefined;
    this.bytes = 0;
  }
}

/** The size in memory in bytes. A character takes up to two; an event has a fixed overhead. */
const sizeOf = ({ data, metadata }: StoredEvent): number => 2 * (data.length + metadata.length) + 200;
