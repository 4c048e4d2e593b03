import { collectFailures } from '../../kernel/each-of.js';
import type { EventStore, LogFilter } from '../../kernel/event-sourcing/event-store.js';

/** The first event after `from` that a follower wants, or the position up to which there is none. */
type Scan = Readonly<{ from: bigint; to: bigint; oldest: Date | null }>;

type Follower = Readonly<{ name: string; position: bigint | undefined }>;

/**
 * Finds the events that followers have not handled. A follower whose position is before the end of the log is only behind if one
 * of the events between concerns it. Keeps the results, so that a part of the log is scanned once for each follower.
 */
export class Backlog {
  private readonly scans = new Map<string, Scan>();

  constructor(
    private readonly log: Pick<EventStore, 'readAll'>,
    private readonly filterOf: (follower: string) => LogFilter | undefined,
  ) {}

  /**
   * Reports the time of the oldest event up to the head that each follower has not handled; null if there is none. Reports nothing
   * on a follower whose position or filter is unknown, or for which the log cannot be read.
   */
  async find(followers: readonly Follower[], head: bigint, report: (name: string, oldest: Date | null) => void): Promise<void> {
    await collectFailures(followers, async ({ name, position }) => {
      const filter = this.filterOf(name);
      if (position === undefined) return;
      if (position >= head) report(name, null);
      else if (filter) report(name, await this.oldest(name, position, head, filter));
    });
  }

  private async oldest(name: string, position: bigint, head: bigint, filter: LogFilter): Promise<Date | null> {
    const known = this.scans.get(name);
    // A restored log may end earlier.
    const isOfUse = known !== undefined && known.from <= position && position <= known.to && known.to <= head;
    if (isOfUse && known.oldest) return known.oldest;
    const found = await this.firstAfter(isOfUse ? known.to : position, filter);
    this.scans.set(name, { from: isOfUse ? known.from : position, ...found });
    return found.oldest;
  }

  private async firstAfter(after: bigint, filter: LogFilter): Promise<Pick<Scan, 'to' | 'oldest'>> {
    let to = after;
    for await (const { events, position } of this.log.readAll({ after, filter, limit: 1 })) {
      const [first] = events;
      // A follower at the position of the event has handled it.
      if (first) return { to: first.position - 1n, oldest: first.at };
      to = position;
    }
    return { to, oldest: null };
  }
}
