import { categoryOf, type LogFilter, type LogPage, type StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { isWanted } from '../wanted.js';
import { PAGE_EVENTS_MAX } from './limits.js';

export const SHARED_EVENTS_MAX = 2_000;
const SHARED_BYTES_MAX = 8 * 1024 * 1024;

/** The newest events of a shared subscription: a section of the log without gaps, apart from the filter. */
export class SharedLog {
  readonly ending = new AbortController();
  /** The position up to which the log was scanned. */
  position: bigint;
  private readonly events: StoredEvent[] = [];
  private bytes = 0;
  private caughtUp = true;

  constructor(
    /** The position before the first event of the section. */
    public after: bigint,
  ) {
    this.position = after;
  }

  add({ events, position, caughtUp }: LogPage): void {
    for (const event of events) {
      this.events.push(event);
      this.bytes += sizeOf(event);
    }
    this.position = position;
    this.caughtUp = caughtUp;
    while (this.events.length > SHARED_EVENTS_MAX || this.bytes > SHARED_BYTES_MAX) {
      const oldest = this.events.shift()!;
      this.bytes -= sizeOf(oldest);
      this.after = oldest.position;
    }
  }

  /** The page after a position; undefined if it is no longer held. */
  pageAfter(position: bigint, filter: LogFilter): LogPage | undefined {
    if (position < this.after) return undefined;
    // Searches from the end, because most followers are there.
    const skip = this.events.findLastIndex((event) => event.position <= position) + 1;
    const considered = this.events.slice(skip, skip + PAGE_EVENTS_MAX);
    const isAll = skip + considered.length === this.events.length;
    return {
      events: considered.filter(({ stream }) => isWanted(filter, categoryOf(stream))),
      position: isAll ? later(position, this.position) : considered.at(-1)!.position,
      caughtUp: isAll && this.caughtUp,
    };
  }
}

const later = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** The size in memory in bytes. A character takes up to two. */
const sizeOf = ({ data, metadata }: StoredEvent): number => 2 * (data.length + metadata.length);
