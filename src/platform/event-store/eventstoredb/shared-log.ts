import { categoryOf, type LogFilter, type LogPage, type StoredEvent } from '../../../kernel/event-sourcing/event-store.js';
import { isWanted } from '../wanted.js';
import { PAGE_EVENTS_MAX } from './limits.js';

export const SHARED_EVENTS_MAX = 2_000;
const SHARED_BYTES_MAX = 8 * 1024 * 1024;

/** What a subscription that several share has brought last: an unbroken piece of the log, as its filter wants it. */
export class SharedLog {
  readonly ending = new AbortController();
  /** Up to where the log was considered. */
  position: bigint;
  private readonly events: StoredEvent[] = [];
  private bytes = 0;
  private caughtUp = true;

  constructor(
    /** The piece begins behind this position. */
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

  /** What follows a position; undefined where that is no longer held. */
  pageAfter(position: bigint, filter: LogFilter): LogPage | undefined {
    if (position < this.after) return undefined;
    // From the end: that is where those who follow the log are.
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

/** In memory a character takes up to two bytes. */
const sizeOf = ({ data, metadata }: StoredEvent): number => 2 * (data.length + metadata.length);
