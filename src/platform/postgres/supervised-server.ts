import type { Timing } from '../../kernel/timing.js';
import { backOffMs } from '../supervision/back-off.js';

/** A running server. `exited` resolves with the reason when it has ended in any way. */
export type ServerRun = Readonly<{ exited: Promise<string>; stop(): Promise<void> }>;

/** Why a server is not running, and how many times in a row it ended soon after its start. */
export type ServerOutage = Readonly<{ reason: string; quickEnds: number }>;

/** After running for this long, the next end counts as the first one again. */
export const STEADY_MS = 60_000;

/** Keeps a server running. Whenever it ends, it is started again, with a growing delay while it ends soon, without a limit. */
export class SupervisedServer {
  private readonly stopping = new AbortController();
  private current: Promise<ServerRun | undefined>;
  private latest: ServerOutage | undefined;

  constructor(
    first: ServerRun,
    /** Starts the server. The `reason` of its error, or else the message, says why it did not start. */
    private readonly start: () => Promise<ServerRun>,
    private readonly timing: Timing,
  ) {
    this.current = Promise.resolve(first);
    void this.watch(first);
  }

  /** Undefined while the server runs. */
  get outage(): ServerOutage | undefined {
    return this.latest;
  }

  /** Stops the server, also while it is starting, and does not start it again. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await (await this.current)?.stop();
  }

  private async watch(first: ServerRun): Promise<void> {
    const { signal } = this.stopping;
    let end = await this.endOf(first);
    for (let quickEnds = 1; ; quickEnds++) {
      if (end.ranMs >= STEADY_MS) quickEnds = 1;
      this.latest = { reason: end.reason, quickEnds };
      const waitMs = backOffMs(quickEnds, this.timing);
      await this.timing.pause(waitMs, signal);
      if (signal.aborted) return;
      end = await this.runAgain();
    }
  }

  private async runAgain(): Promise<{ reason: string; ranMs: number }> {
    const starting = this.start();
    this.current = starting.catch(() => undefined);
    try {
      return await this.endOf(await starting);
    } catch (error) {
      const { reason, message } = error as Error & { reason?: string };
      return { reason: reason ?? message, ranMs: 0 };
    }
  }

  private async endOf(run: ServerRun): Promise<{ reason: string; ranMs: number }> {
    this.latest = undefined;
    const since = this.timing.elapsedMs();
    const reason = await run.exited;
    return { reason, ranMs: this.timing.elapsedMs() - since };
  }
}
