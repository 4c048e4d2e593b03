import { setMaxListeners } from 'node:events';

import type { LogFilter, LogPage } from '../../../kernel/event-sourcing/event-store.js';
import type { Timing } from '../../../kernel/timing.js';
import { WakeFlag } from '../wake-flag.js';
import { FRAMES, isWanted } from '../wanted.js';
import { SharedLog } from './shared-log.js';

/** How often a follower that gets nothing is told how far the log was considered. */
const SILENCE_MS_MAX = 200;
/** After a subscription that was shared has failed, each keeps its own for so long. */
const APART_MS = 10_000;

const ALL_BUT_FRAMES: LogFilter = { exceptCategories: [FRAMES] };

type Follow = (after: bigint, filter: LogFilter, signal: AbortSignal) => AsyncIterable<LogPage>;

/**
 * Those who follow the log. Each comes to the present by a subscription of its own and goes on with one that all share: an event
 * is sent and taken apart once for all of them. Who falls behind what is held of it goes back to a subscription of its own.
 */
export class SharedFollow {
  private readonly followers = new Set<WakeFlag>();
  private shared: SharedLog | undefined;
  private apartUntil = -Infinity;

  constructor(
    private readonly alone: Follow,
    private readonly timing: Timing,
  ) {}

  /** @throws what following alone throws */
  async *follow(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogPage, void> {
    if (isWanted(filter, FRAMES)) {
      yield* this.alone(after, filter, signal);
      return;
    }
    // One signal may end every follower of a process; that is no leak.
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

  /** Goes on with what all share, for as long as that holds what comes after the position; answers how far it has come. */
  private async *together(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogPage, bigint> {
    const wakeFlag = new WakeFlag();
    this.followers.add(wakeFlag);
    this.shared ??= this.begin(after);
    signal.addEventListener('abort', wakeFlag.ring);
    let position = after;
    let told = { position, at: this.timing.elapsedMs() };
    try {
      while (!signal.aborted) {
        wakeFlag.mute();
        const page = this.shared?.pageAfter(position, filter);
        if (!page) break;
        ({ position } = page);
        const isDue = this.timing.elapsedMs() - told.at >= SILENCE_MS_MAX && position !== told.position;
        if (page.events.length > 0 || isDue) {
          told = { position, at: this.timing.elapsedMs() };
          yield page;
        }
        if (this.shared && position >= this.shared.position)
          await wakeFlag.rings(position === told.position ? undefined : SILENCE_MS_MAX);
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
      // Each finds out by itself what is wrong.
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
