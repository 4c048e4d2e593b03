import type { Seeded } from '../../support/seeded.js';
import type { ServiceProcess } from './service-process.js';
import type { World } from './world.js';

/** How long after its return the store's outage may still have effects. */
const FELT_MS = 2_500;
const APART_MS = 900;

/** Crashes and restarts processes, makes the store unavailable, and changes its leader. In the end everything runs. */
export class Troubles {
  private readonly outages: { fromMs: number; toMs: number }[] = [];

  constructor(
    private readonly world: World,
    private readonly processes: readonly ServiceProcess[],
    /** Whether the log has three nodes. */
    private readonly isCluster: boolean,
  ) {}

  isTroubled(fromMs: number, toMs: number): boolean {
    return this.outages.some((outage) => outage.fromMs <= toMs && outage.toMs >= fromMs);
  }

  async run(untilMs: number): Promise<void> {
    const { simulation, parts } = this.world;
    const random = simulation.random('troubles');
    const isCalm = random.oneIn(4);
    for (let count = 0; !isCalm && simulation.nowMs < untilMs; count++) {
      await simulation.pause(random.next() * APART_MS, simulation.world, 'trouble');
      const trouble = this.next(random);
      if (parts.has(`trouble ${count}`)) await trouble();
    }
  }

  /** The next trouble. It draws the same random numbers even if it is left out. */
  private next(random: Seeded): () => Promise<void> {
    if (this.isCluster && random.oneIn(4)) {
      const [cutOffMs, electionMs] = [random.between(0, 600), random.between(50, 1_200)];
      return () => this.leaderChanges(cutOffMs, electionMs);
    }
    if (random.oneIn(4)) {
      const ms = random.between(100, random.oneIn(3) ? 5_000 : 1_000);
      return () => this.storeGoes(ms);
    }
    const process = this.processes[random.between(0, this.processes.length - 1)]!;
    const backAfterMs = random.between(10, random.oneIn(4) ? 5_000 : 400);
    return () => this.dies(process, backAfterMs);
  }

  private async leaderChanges(cutOffMs: number, electionMs: number): Promise<void> {
    const { coverage, log } = this.world;
    this.storeIsAway(cutOffMs + electionMs);
    coverage.note('the leader changed');
    if ((await log.changeLeader(cutOffMs, electionMs)) > 0) coverage.note('events were lost with their leader');
  }

  private async storeGoes(ms: number): Promise<void> {
    this.storeIsAway(ms);
    this.world.log.goAway(ms);
  }

  private async dies(process: ServiceProcess, backAfterMs: number): Promise<void> {
    const { simulation, coverage } = this.world;
    if (!process.isUp) return;
    coverage.note('a process was killed');
    process.kill();
    simulation.after(backAfterMs, simulation.world, 'comes back', () => process.start());
  }

  private storeIsAway(ms: number): void {
    const { nowMs } = this.world.simulation;
    this.outages.push({ fromMs: nowMs, toMs: nowMs + ms + FELT_MS });
  }
}
