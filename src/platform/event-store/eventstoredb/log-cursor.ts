import { LOG_START, LogEndsEarlier, type LogFilter, type LogPage } from '../../../kernel/event-sourcing/event-store.js';
import { systemTiming } from '../../system-timing.js';
import { type Answer, eventsIn, positionOf } from './answer.js';
import type { Cursor } from './reading.js';
import { END_POLL_MS, END_VISIBLE_MS_MAX } from './limits.js';
import { readLog, readLogEnd, subscribeToLog } from './read-requests.js';
import type { ReadRequest } from './stubs.js';

/** The position of the last event in the log, system events included. */
export class LogEnd implements Cursor<bigint> {
  request(): ReadRequest {
    return readLogEnd();
  }

  take(answers: readonly Answer[]): bigint | undefined {
    return furthest(LOG_START, answers);
  }
}

/** Reads up to `left` events of the log after a position, up to the present end. */
export class LogRead implements Cursor<LogPage> {
  private present = LOG_START;
  private asked = 0;
  private received = 0;

  /** @param head returns the end of the log. A read that starts later and completes has passed it */
  constructor(
    private position: bigint,
    private readonly filter: LogFilter,
    private left: number,
    private readonly head: () => Promise<bigint>,
  ) {}

  get done(): boolean {
    return this.left <= 0;
  }

  ping(): Promise<unknown> {
    return this.head();
  }

  async request(): Promise<ReadRequest> {
    this.present = await this.head();
    this.received = 0;
    // The server starts with the event at the position, which was already read.
    this.asked = this.left + 1;
    return readLog(this.position, this.filter, this.asked);
  }

  take(answers: readonly Answer[]): LogPage | undefined {
    for (const { kind } of answers) if (kind === 'event') this.received += 1;
    const before = this.position;
    const events = eventsIn(answers)
      .filter(({ position }) => position > before)
      .slice(0, this.left);
    this.left -= events.length;
    this.position = this.left > 0 ? furthest(before, answers) : (events.at(-1)?.position ?? before);
    return events.length > 0 ? { events, position: this.position, caughtUp: false } : undefined;
  }

  /** The final page after the server's last event: the position up to which the log was scanned. */
  end(): LogPage | undefined {
    if (this.done) return undefined;
    const caughtUp = this.received < this.asked;
    if (caughtUp && this.present > this.position) this.position = this.present;
    return { events: [], position: this.position, caughtUp };
  }
}

/** Follows the log after a position. */
export class LogFollow implements Cursor<LogPage> {
  private present = LOG_START;
  private caughtUp = false;

  constructor(
    private position: bigint,
    private readonly filter: LogFilter,
    private readonly head: () => Promise<bigint>,
  ) {}

  /** Checks that the log reaches the position: the server accepts a position beyond its end and skips the events up to it. */
  async request(): Promise<ReadRequest> {
    this.caughtUp = false;
    this.present = await this.head();
    const since = systemTiming.elapsedMs();
    for (; this.present < this.position; this.present = await this.head()) {
      if (systemTiming.elapsedMs() - since > END_VISIBLE_MS_MAX) throw new LogEndsEarlier();
      await systemTiming.pause(END_POLL_MS);
    }
    return subscribeToLog(this.position, this.filter);
  }

  take(answers: readonly Answer[]): LogPage | undefined {
    const { position: before, caughtUp: wasCaughtUp } = this;
    const events = eventsIn(answers).filter(({ position }) => position > before);
    this.position = furthest(before, answers);
    for (const { kind } of answers) {
      if (kind === 'fell-behind') this.caughtUp = false;
      if (kind === 'caught-up') this.reachPresent();
    }
    const hasMoved = events.length > 0 || this.position !== before || this.caughtUp !== wasCaughtUp;
    return hasMoved ? { events, position: this.position, caughtUp: this.caughtUp } : undefined;
  }

  /** The subscription has passed everything that the log held when it started. */
  private reachPresent(): void {
    this.caughtUp = true;
    if (this.present > this.position) this.position = this.present;
  }
}

function furthest(position: bigint, answers: readonly Answer[]): bigint {
  for (const answer of answers) {
    const reached = positionOf(answer);
    if (reached !== undefined && reached > position) position = reached;
  }
  return position;
}
