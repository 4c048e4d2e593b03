import { Seeded } from '../seeded.js';
import type { Log } from './log.js';

/** How long accepted events stay invisible: mostly as with a disk, sometimes as with followers that acknowledge slowly. */
const USUAL_DELAY_MS_MAX = 3;
const LONG_DELAY_MS_MAX = 300;
const LONG_DELAY_ONE_IN = 50;

/** A server writes its own events before and between those of its clients. */
const SYSTEM_EVENTS_FIRST = 3;
const SYSTEM_EVENT_EVERY_COMMITS = 20;

/**
 * Makes accepted appends visible after a delay, all that have gathered at once. Until then the writer knows more than any reader,
 * so the loser of a race is given a revision that is not yet readable.
 */
export class Commits {
  /** The delay of the next commit. A test may replace it. */
  delayMs = () => this.seeded.between(0, this.seeded.oneIn(LONG_DELAY_ONE_IN) ? LONG_DELAY_MS_MAX : USUAL_DELAY_MS_MAX);
  private readonly seeded: Seeded;
  private committing: Promise<void> | undefined;
  private commits = 0;
  private stopped = false;

  constructor(
    private readonly log: Log,
    seed = Math.floor(Math.random() * 2 ** 31),
  ) {
    this.seeded = new Seeded(seed);
    if (log.records.length > 0) return;
    for (let count = 0; count < SYSTEM_EVENTS_FIRST; count++) this.writeSystemEvent();
    log.commit(log.underWay);
  }

  /** Resolves when readers see everything up to a position. */
  async until(position: bigint): Promise<void> {
    while (!this.stopped && !this.log.hasCommitted(position)) await this.soon();
  }

  /** Commits the appends under way, now or later. */
  soon(): Promise<void> {
    this.committing ??= this.commit().finally(() => (this.committing = undefined));
    return this.committing;
  }

  /** At a crash, the appends under way are either all written or all lost. No client got a response. */
  crash(): void {
    if (this.seeded.oneIn(2)) this.log.commit(this.log.underWay);
    else this.log.abandon();
    this.stopped = true;
  }

  private async commit(): Promise<void> {
    const { underWay } = this.log;
    await this.delay();
    if (this.stopped) return;
    this.log.commit(underWay);
    this.commits += 1;
    if (this.commits % SYSTEM_EVENT_EVERY_COMMITS === 0) this.writeSystemEvent();
  }

  private writeSystemEvent(): void {
    const data = Buffer.from('{"proc-cpu":0.1}');
    const statistics = { type: '$statsCollected', contentType: 'application/json', data, metadata: new Uint8Array() };
    this.log.append('$stats-127.0.0.1:2113', 'any', [{ id: crypto.randomUUID(), ...statistics }]);
  }

  private async delay(): Promise<void> {
    const ms = this.delayMs();
    await (ms === 0 ? new Promise((resolve) => setImmediate(resolve)) : new Promise((resolve) => setTimeout(resolve, ms)));
  }
}
