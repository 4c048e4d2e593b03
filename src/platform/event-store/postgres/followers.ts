import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import {
  categoryOf,
  LogEndsEarlier,
  type LogFilter,
  type LogPage,
  StoreUnavailable,
} from '../../../kernel/event-sourcing/event-store.js';
import { Reports } from '../reports.js';
import type { WakeFlag } from '../wake-flag.js';
import { FRAMES, isWanted } from '../wanted.js';
import { logEnd, logPage } from './log-pages.js';
import type { RecentEvents } from './recent-events.js';
import type { WakeUps } from './wake-ups.js';

const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 1_000;

const BUT_FRAMES: LogFilter = { exceptCategories: [FRAMES] };

type Query = <T>(run: (sql: Sql) => PromiseLike<T>) => Promise<T>;

/** The followers of the log. They read from the database; near the end of the log, from this process's recent commits. */
export class Followers {
  private readonly closing = new AbortController();
  /** Page reads that are not sent yet, by the position that they start after. */
  private readonly unsent = new Map<bigint, Promise<LogPage>>();

  constructor(
    private readonly query: Query,
    private readonly recent: RecentEvents,
    private readonly wakeUps: WakeUps,
  ) {
    setMaxListeners(0, this.closing.signal);
  }

  async *followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogPage> {
    const follower = this.wakeUps.join(after, filter);
    const { wakeFlag } = follower;
    const forget = this.ringAtTheEnd(wakeFlag, signal);
    const reports = new Reports(after, () => performance.now());
    // Followers that start together mostly start at the same position.
    let shares = !follower.wantsFrames;
    try {
      while (!this.isOver(signal)) {
        wakeFlag.mute();
        const page =
          this.recent.ofLog(follower.position, filter) ??
          (await this.untilItWorks(
            () => (shares ? this.newest(follower.position, filter) : this.page(follower.position, filter)),
            signal,
          ));
        if (!page) return;
        shares = page.caughtUp && !follower.wantsFrames;
        follower.position = page.position;
        if (reports.isDue(page)) yield page;
        if (page.caughtUp) await wakeFlag.rings(reports.waitMsAt(page.position));
      }
    } finally {
      forget();
      this.wakeUps.leave(follower);
    }
  }

  /** Ends all followers. */
  close(): void {
    this.closing.abort();
    this.wakeUps.ringAll();
  }

  private isOver(signal: AbortSignal): boolean {
    return signal.aborted || this.closing.signal.aborted;
  }

  private ringAtTheEnd(wakeFlag: WakeFlag, signal: AbortSignal): () => void {
    // One signal may end many followers.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', wakeFlag.ring);
    return () => signal.removeEventListener('abort', wakeFlag.ring);
  }

  /** @throws LogEndsEarlier */
  private page(after: bigint, filter: LogFilter): Promise<LogPage> {
    return this.query(async (sql) => {
      const { page, head } = await logPage(sql, after, filter);
      // The newest events may have been deleted, which leaves followers past the head.
      if (after > head && after > (await logEnd(sql))) throw new LogEndsEarlier();
      return page;
    });
  }

  /**
   * As `page`, with one read for all followers at this position that were woken together. A follower never joins a statement that
   * was already sent: its snapshot may be older than the event that woke the follower.
   */
  private async newest(after: bigint, filter: LogFilter): Promise<LogPage> {
    const read = this.unsent.get(after) ?? this.readNextTurn(after);
    this.unsent.set(after, read);
    const { events, ...page } = await read;
    return { ...page, events: events.filter(({ stream }) => isWanted(filter, categoryOf(stream))) };
  }

  private async readNextTurn(after: bigint): Promise<LogPage> {
    await nextTurn();
    this.unsent.delete(after);
    return this.page(after, BUT_FRAMES);
  }

  /** Reads a page and retries during outages. Resolves to undefined at once when the follower ends. */
  private async untilItWorks<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    for (let pauseMs = RETRY_MS_MIN; !this.isOver(signal); pauseMs = Math.min(pauseMs * 2, RETRY_MS_MAX)) {
      try {
        const page = await this.unlessOver(read(), signal);
        return this.isOver(signal) ? undefined : page;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  private async unlessOver<T>(page: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    let leave = (): void => undefined;
    const over = new Promise<undefined>((resolve) => (leave = () => resolve(undefined)));
    const ends = [signal, this.closing.signal];
    for (const end of ends) end.addEventListener('abort', leave);
    try {
      return await Promise.race([page, over]);
    } finally {
      for (const end of ends) end.removeEventListener('abort', leave);
      page.catch(() => undefined);
    }
  }
}
