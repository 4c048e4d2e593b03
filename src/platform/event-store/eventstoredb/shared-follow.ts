import { setMaxListeners } from 'node:events';

import type { LogFilter, LogPage } from '../../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../../kernel/timing.js';
import { Reports } from '../reports.js';
import { WakeFlag } from '../wake-flag.js';
import { FRAMES, isWanted } from '../wanted.js';
import { SharedLog } from './shared-log.js';

/** How long followers keep their own subscriptions after the shared one has failed. */
const APART_MS = 10_000;

const ALL_BUT_FRAMES: LogFilter = { exceptCategories: [FRAMES] };

type Follow = (after: bigint, filter: LogFilter, signal: AbortSignal) => AsyncIterable<LogPage>;

/**
 * The followers of the log. Each follower catches up by its own subscription and then uses one that all share, so that an event
 * is sent and decoded once for all of them. A follower that falls behind the events held in memory returns to its own
 * subscription.
 */
export class SharedFollow {
  private readonly followers = new Set<WakeFlag>();
  private shared: SharedLog | undefined;
  private apartUntil = -Infinity;

  constructor(
    private readonly alone: Follow,
    private readonly timing: Timing,
  ) {}

  /** @throws as the underlying subscription does */
  async *follow(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogPage, void> {
    if (isWanted(filter, FRAMES)) {
      yield* this.alone(after, filter, signal);
      return;
    }
    // One signal may end all followers of a process. The number of its listeners is not a leak.
    setMaxListeners(0, signal);
    for (let position = after; !signal.aborted;) {
      if (!this.holds(position)) position = yield* this.untilPresent(position, filter, signal);
      if (!signal.aborted) position = yield* this.together(position, filter, signal);
    }
  }

  private holds(position: bigint): boolean {
    return this.shared !== undefined && position >= this.shared.after && position <= this.shared.position;
  }

  private async *untilPresent(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogPage, bigint> {
    let position = after;
    for await (const page of this.alone(after, filter, signal)) {
      ({ position } = page);
      yield page;
      if (page.caughtUp && this.mayShare(position)) break;
    }
    return position;
  }

  private mayShare(position: bigint): boolean {
    return this.shared ? position >= this.shared.after : this.timing.elapsedMs() >= this.apartUntil;
  }

  /** Follows the shared subscription while it holds the events after the position, and returns the position reached. */
  private async *together(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogPage, bigint> {
    const wakeFlag = new WakeFlag();
    this.followers.add(wakeFlag);
    this.shared ??= this.begin(after);
    signal.addEventListener('abort', wakeFlag.ring);
    let position = after;
    const reports = new Reports(after, () => this.timing.elapsedMs());
    try {
      while (!signal.aborted) {
        wakeFlag.mute();
        const page = this.shared?.pageAfter(position, filter);
        if (!page) break;
        ({ position } = page);
        if (reports.isDue(page)) yield page;
        if (this.shared && position >= this.shared.position) await wakeFlag.rings(reports.waitMsAt(position));
      }
    } finally {
      signal.removeEventListener('abort', wakeFlag.ring);
      this.followers.delete(wakeFlag);
      if (this.followers.size === 0) this.end();
    }
    return position;
  }

  private begin(after: bigint): SharedLog {
    const shared = new SharedLog(after);
    void this.run(shared);
    return shared;
  }

  private async run(shared: SharedLog): Promise<void> {
    try {
      for await (const page of this.alone(shared.after, ALL_BUT_FRAMES, shared.ending.signal)) {
        shared.add(page);
        this.wakeAll();
      }
    } catch {
      // Each follower gets the error from its own subscription.
      this.apartUntil = this.timing.elapsedMs() + APART_MS;
    }
    if (this.shared === shared) this.shared = undefined;
    this.wakeAll();
  }

  private end(): void {
    this.shared?.ending.abort();
    this.shared = undefined;
  }

  private wakeAll(): void {
    for (const wakeFlag of this.followers) wakeFlag.ring();
  }
}
