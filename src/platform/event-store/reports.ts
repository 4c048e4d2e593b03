import type { LogPage } from '../../kernel/event-sourcing/event-store.js';

/** How often a follower without events is sent the position up to which the log was scanned. */
const SILENCE_MS_MAX = 200;

/**
 * Decides which pages a follower is sent: those with events, the first one that reaches the end of the log, and otherwise the
 * position once in SILENCE_MS_MAX.
 */
export class Reports {
  private wasCaughtUp = false;
  private at: number;

  /** @param position the position that the follower knows */
  constructor(
    private position: bigint,
    private readonly nowMs: () => number,
  ) {
    this.at = nowMs();
  }

  /** Whether the follower is sent this page. */
  isDue({ events, position, caughtUp }: LogPage): boolean {
    const now = this.nowMs();
    const isAtEnd = caughtUp && !this.wasCaughtUp;
    const isSilent = position !== this.position && now - this.at >= SILENCE_MS_MAX;
    this.wasCaughtUp = caughtUp;
    if (events.length === 0 && !isAtEnd && !isSilent) return false;
    this.position = position;
    this.at = now;
    return true;
  }

  /** How long a follower at this position may wait for events; undefined if there is nothing to report before them. */
  waitMsAt(position: bigint): number | undefined {
    return position === this.position ? undefined : SILENCE_MS_MAX;
  }
}
