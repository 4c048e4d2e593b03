import { LOG_START, type LogFilter, type LogPage } from '../../../kernel/event-store.js';
import type { Cursor } from './reading.js';
import { readLog, readLogEnd, subscribeToLog } from './read-requests.js';
import { positionOf } from './recorded.js';
import { eventsIn } from './stream-cursor.js';
import type { ReadRequest, ReadResponse } from './stubs.js';

/** The position of whatever is last in the log, the store's own events included. */
export class LogEnd implements Cursor<bigint> {
  request(): ReadRequest {
    return readLogEnd();
  }

  take(responses: readonly ReadResponse[]): bigint | undefined {
    return furthest(LOG_START, responses);
  }
}

/** So many events of the log after a position, up to the present. */
export class LogRead implements Cursor<LogPage> {
  private present = LOG_START;
  private asked = 0;
  private received = 0;

  /** @param head tells the end of the log: everything before it is past once a read that started later is over */
  constructor(
    private position: bigint,
    private readonly filter: LogFilter,
    private left: number,
    private readonly head: () => Promise<bigint>,
  ) {}

  get done(): boolean {
    return this.left <= 0;
  }

  async request(): Promise<ReadRequest> {
    this.present = await this.head();
    this.received = 0;
    // The server begins with the event at the position, which was taken already.
    this.asked = this.left + 1;
    return readLog(this.position, this.filter, this.asked);
  }

  take(responses: readonly ReadResponse[]): LogPage | undefined {
    this.received += responses.length;
    const before = this.position;
    const events = eventsIn(responses)
      .filter(({ position }) => position > before)
      .slice(0, this.left);
    this.left -= events.length;
    this.position = this.left > 0 ? furthest(before, responses) : (events.at(-1)?.position ?? before);
    return events.length > 0 ? { events, position: this.position, caughtUp: false } : undefined;
  }

  /** What is left to say when the server has nothing more: how far the log was considered. */
  end(): LogPage | undefined {
    if (this.done) return undefined;
    const caughtUp = this.received < this.asked;
    if (caughtUp && this.present > this.position) this.position = this.present;
    return { events: [], position: this.position, caughtUp };
  }
}

/** The log after a position, for ever. */
export class LogFollow implements Cursor<LogPage> {
  private present = LOG_START;
  private caughtUp = false;

  constructor(
    private position: bigint,
    private readonly filter: LogFilter,
    private readonly head: () => Promise<bigint>,
  ) {}

  async request(): Promise<ReadRequest> {
    this.caughtUp = false;
    this.present = await this.head();
    return subscribeToLog(this.position, this.filter);
  }

  take(responses: readonly ReadResponse[]): LogPage | undefined {
    const { position: before, caughtUp: wasCaughtUp } = this;
    const events = eventsIn(responses).filter(({ position }) => position > before);
    this.position = furthest(before, responses);
    for (const response of responses) {
      if (response.hasFellBehind()) this.caughtUp = false;
      if (response.hasCaughtUp()) this.reachPresent();
    }
    const news = events.length > 0 || this.position !== before || this.caughtUp !== wasCaughtUp;
    return news ? { events, position: this.position, caughtUp: this.caughtUp } : undefined;
  }

  /** What was in the log when the subscription began is behind it now, wanted or not. */
  private reachPresent(): void {
    this.caughtUp = true;
    if (this.present > this.position) this.position = this.present;
  }
}

function furthest(position: bigint, responses: readonly ReadResponse[]): bigint {
  for (const response of responses) {
    const reached = positionOf(response);
    if (reached !== undefined && reached > position) position = reached;
  }
  return position;
}
