import { ServiceProcess } from './process.js';
import type { Seeded } from './seeded.js';

const MINUTE_MS = 60_000;
/** How far the clock of either process may be off. */
const SKEW_MS = 10 * MINUTE_MS;
/** How often either clock is put right, or wrong another way, when the time is set. */
const ONE_IN_SETS_CHANGES = 4;

/** Two processes over one log, whose clocks are up to twenty minutes apart and are set while they run. */
export class TwoClocks {
  private readonly skews = [SKEW_MS, -SKEW_MS];
  private now = Date.now();
  kills = 0;

  private constructor(
    private readonly random: Seeded,
    private readonly processes: readonly [ServiceProcess, ServiceProcess],
  ) {}

  static async start(random: Seeded, environment: Readonly<Record<string, string>>): Promise<TwoClocks> {
    const one = await ServiceProcess.start({ environment, standbys: 1, clockOffMs: SKEW_MS });
    try {
      const other = await ServiceProcess.start({ environment, standbys: 1, clockOffMs: -SKEW_MS });
      return new TwoClocks(random, [one, other]);
    } catch (error) {
      await one.close();
      throw error;
    }
  }

  get output(): string {
    return this.processes.map(({ output }) => output).join('\n');
  }

  urlOf(index: 0 | 1): string {
    return this.processes[index].url;
  }

  /** So much time passes at once; now and then one of the clocks is put right, or wrong another way. */
  leap(ms: number): void {
    this.now += ms;
    for (const [index, process] of this.processes.entries()) {
      if (this.random.oneIn(ONE_IN_SETS_CHANGES)) this.skews[index] = this.random.between(-1, 1) * SKEW_MS;
      process.setClock(this.now + this.skews[index]! - Date.now());
    }
  }

  /** In the middle of whatever it does, and it is there again at once. */
  async kill(index: number): Promise<void> {
    await this.processes[index]!.kill();
    await this.processes[index]!.start();
    this.kills++;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.close()));
  }
}
