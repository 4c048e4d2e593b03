/** How long our own clock's running tells the server's time before it is asked again. */
const TRUSTED_MS = 10_000;

/** Tells when something was written that the server dates, after it has been. */
export type AskServer = () => Promise<Date>;

/**
 * What the server's clock shows at least, as that clock dates what is written. The clocks of two machines may be minutes apart
 * and are set now and then: how late it is here says nothing, only how much time has passed.
 */
export class ServerTime {
  private told: Readonly<{ serverMs: number; at: number }> | undefined;
  private asking: Promise<void> | undefined;

  constructor(private readonly aheadMs: () => number = () => 0) {}

  async now(ask: AskServer): Promise<number> {
    if (!this.told || performance.now() - this.told.at > TRUSTED_MS) await (this.asking ??= this.learn(ask));
    const { serverMs, at } = this.told!;
    return serverMs + performance.now() - at + this.aheadMs();
  }

  /** The answer was on its way for a while: what it says has come for certain. */
  private async learn(ask: AskServer): Promise<void> {
    try {
      const serverMs = (await ask()).getTime();
      this.told = { serverMs, at: performance.now() };
    } finally {
      this.asking = undefined;
    }
  }
}
