import { ServiceProcess } from './process.js';
import type { Seeded } from './seeded.js';

const MINUTE_MS = 60_000;
/** The maximum error of either clock. */
const SKEW_MS = 10 * MINUTE_MS;
/** The probability that setting the time changes the error of a clock: 1 in this many. */
const ONE_IN_SETS_CHANGES = 4;

/** Two processes over one log, whose clocks are up to twenty minutes apart and are changed while they run. */
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

  /** Advances the time. Sometimes the error of a clock changes. */
  leap(ms: number): void {
    this.now += ms;
    for (const [index, process] of this.processes.entries()) {
      if (this.random.oneIn(ONE_IN_SETS_CHANGES)) this.skews[index] = this.random.between(-1, 1) * SKEW_MS;
      process.setClock(this.now + this.skews[index]! - Date.now());
    }
  }

  /** Kills a process at any moment and starts it again at once. */
  async kill(index: number): Promise<void> {
    await this.processes[index]!.kill();
    await this.processes[index]!.start();
    this.kills++;
  }

  async close(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.close()));
  }
}
