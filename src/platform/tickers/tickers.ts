import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Clock } from '../../kernel/clock.js';
import type { Ticker } from '../../kernel/event-sourcing/ticker.js';
import type { Timing } from '../../kernel/timing.js';
import { logFailure } from '../supervision/failure-log.js';

/** Runs tickers, each at fixed times without drift and never concurrently with itself. Missed ticks are skipped. */
export class Tickers {
  private readonly stopping = new AbortController();
  private running: readonly Promise<void>[] = [];

  constructor(
    private readonly tickers: readonly Ticker[],
    private readonly clock: Clock,
    private readonly timing: Timing,
    private readonly log: Logger,
  ) {
    // Every ticker adds a listener.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Starts with an immediate tick, for work that came due while no process ran. */
  start(): void {
    this.running = this.tickers.map((ticker) => this.run(ticker, this.stopping.signal));
  }

  /** Stops ticking, and resolves when ticks in progress are done. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }

  private async run(ticker: Ticker, signal: AbortSignal): Promise<void> {
    const startedAt = this.timing.elapsedMs();
    for (let ticks = 1; !signal.aborted; ticks++) {
      try {
        await ticker.tick(this.clock.now());
      } catch (error) {
        // The next tick retries, because the work is still due.
        const { log, timing } = this;
        const { name } = ticker;
        logFailure({ log, timing }, 'error', { err: error, ticker: name }, `${name} failed and will be tried at its next tick`);
      }
      const elapsed = this.timing.elapsedMs() - startedAt;
      // A pause may end a moment early. Its tick must not be repeated in that moment.
      ticks = Math.max(ticks, Math.ceil(elapsed / ticker.everyMs));
      await this.timing.pause(ticks * ticker.everyMs - elapsed, signal);
    }
  }
}
