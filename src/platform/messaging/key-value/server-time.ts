/** How long the server's time is extrapolated by the monotonic clock before it is requested again. */
const TRUSTED_MS = 10_000;

/** Writes something that the server dates, and returns that time. */
export type AskServer = () => Promise<Date>;

/**
 * A lower bound of the server's time. The clocks of two machines may differ by minutes and may be adjusted, so only the elapsed
 * time of this machine is used.
 */
export class ServerTime {
  private known: Readonly<{ serverMs: number; at: number }> | undefined;
  private asking: Promise<void> | undefined;

  constructor(private readonly aheadMs: () => number = () => 0) {}

  async now(ask: AskServer): Promise<number> {
    if (!this.known || performance.now() - this.known.at > TRUSTED_MS) await (this.asking ??= this.learn(ask));
    const { serverMs, at } = this.known!;
    return serverMs + performance.now() - at + this.aheadMs();
  }

  /** Requests the server's time. The answer takes time to arrive, so the server's clock is at least there. */
  private async learn(ask: AskServer): Promise<void> {
    try {
      const serverMs = (await ask()).getTime();
      this.known = { serverMs, at: performance.now() };
    } finally {
      this.asking = undefined;
    }
  }
}
