import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Clock } from '../../kernel/clock.js';
import type { Ticker } from '../../kernel/event-sourcing/ticker.js';
import type { Timing } from '../../kernel/timing.js';

/** Lets tickers tick: each on its own grid that does not drift, never twice at once; a tick that is late is left out. */
export class Tickers {
  private readonly stopping = new AbortController();
  private running: readonly Promise<void>[] = [];

  constructor(
    private readonly tickers: readonly Ticker[],
    private readonly clock: Clock,
    private readonly timing: Timing,
    private readonly log: Logger,
  ) {
    // Every ticker listens.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Each ticks at once, for what came due while no process ran. */
  start(): void {
    this.running = this.tickers.map((ticker) => this.run(ticker, this.stopping.signal));
  }

  /** No further tick; resolves when those under way are over. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }

  private async run(ticker: Ticker, signal: AbortSignal): Promise<void> {
    const startedAt = this.timing.elapsedMs();
    while (!signal.aborted) {
      try {
        await ticker.tick(this.clock.now());
      } catch (error) {
        // The next tick is the retry: what was due still is.
        this.log.error({ err: error, ticker: ticker.name }, `${ticker.name} failed and will be tried at its next tick`);
      }
      const elapsed = this.timing.elapsedMs() - startedAt;
      await this.timing.pause(ticker.everyMs - (elapsed % ticker.everyMs), signal);
    }
  }
}
