import type { Seeded } from '../../support/seeded.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Coverage } from './coverage.js';
import type { ServiceProcess } from './service-process.js';

const APART_MS = 20_000;
const AHEAD_MS = [30_000, 110_000] as const;
const AHEAD_FOR_MS = [100, 2_500] as const;
const RIGHT_FOR_MS = 2_000;

/** The clocks of processes: different ones, and sometimes one that runs ahead for a while and is set back. */
export class WrongClocks {
  /** The largest offset so far. */
  aheadMs: number;
  /** The largest offset of the run. */
  readonly aheadMsMax: number;
  private readonly random: Seeded;
  private readonly areApart: boolean;
  private readonly goAhead: boolean;

  constructor(
    private readonly simulation: Simulation,
    private readonly processes: readonly ServiceProcess[],
    private readonly coverage: Coverage,
  ) {
    this.random = simulation.random('clocks');
    this.areApart = this.random.oneIn(2);
    this.goAhead = this.random.oneIn(2);
    this.aheadMs = Math.max(...processes.map(({ clockOffMs }) => clockOffMs));
    this.aheadMsMax = this.goAhead ? AHEAD_MS[1] : APART_MS;
  }

  async run(untilMs: number): Promise<void> {
    const { simulation, processes, coverage, random } = this;
    if (this.areApart) for (const process of processes) this.set(process, random.between(-APART_MS, APART_MS));
    while (this.goAhead && simulation.nowMs < untilMs) {
      await simulation.pause(random.next() * RIGHT_FOR_MS, simulation.world, 'a clock goes ahead');
      const process = processes[random.between(0, processes.length - 1)]!;
      const before = process.clockOffMs;
      coverage.note('a clock went ahead and came back');
      this.set(process, random.between(...AHEAD_MS));
      await simulation.pause(random.between(...AHEAD_FOR_MS), simulation.world, 'the clock comes back');
      this.set(process, before);
    }
  }

  private set(process: ServiceProcess, offMs: number): void {
    process.clockOffMs = offMs;
    this.aheadMs = Math.max(this.aheadMs, offMs);
  }
}
