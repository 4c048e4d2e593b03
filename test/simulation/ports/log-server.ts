import type { Seeded } from '../../support/seeded.js';
import { InMemoryEventStore } from '../../support/in-memory-event-store.js';
import type { Simulation } from '../kernel/simulation.js';

/** The duration of commits: the usual one, and that of 1 in `slowOneIn`. */
type Disk = Readonly<{ usualMs: number; slowMs: number; slowOneIn: number }>;

/**
 * As measured on one node on disk (where the losers of a race are refused before they can read the winner), and a disk under
 * heavy load.
 */
const DISKS: readonly Disk[] = [
  { usualMs: 3, slowMs: 70, slowOneIn: 8 },
  { usualMs: 3, slowMs: 70, slowOneIn: 8 },
  { usualMs: 120, slowMs: 400, slowOneIn: 5 },
];

/** The time before the server reports a timeout for an append that is identical to one in flight. */
export const IN_FLIGHT_TIMEOUT_MS = [2_000, 3_000] as const;

/** The event store as a server that all processes share, with the failures of a real one. */
export class LogServer {
  readonly store: InMemoryEventStore;
  /** The time until which it does not respond. */
  awayUntilMs = 0;
  /** The number of leader changes. Callers of the previous leader get no response. */
  term = 0;
  /** Set while the leader is cut off. Nothing is committed until it resolves. */
  private cutOff: Promise<void> | undefined;
  private leaderlessUntilMs = 0;
  private readonly waiting = new Set<() => void>();
  private readonly random: Seeded;
  private readonly disk: Disk;

  constructor(private readonly simulation: Simulation) {
    this.random = simulation.random('log server');
    this.disk = DISKS[this.random.between(0, DISKS.length - 1)]!;
    this.store = new InMemoryEventStore({ now: () => simulation.now() }, async () => {
      await simulation.pause(this.commitMs(), simulation.world, 'the log commits');
      await this.cutOff;
      for (const wake of [...this.waiting]) wake();
    });
  }

  get isAway(): boolean {
    return this.simulation.nowMs < this.awayUntilMs;
  }

  get hasLeader(): boolean {
    return this.simulation.nowMs >= this.leaderlessUntilMs;
  }

  /**
   * Cuts the leader off from the other nodes: it accepts appends and commits none. After an election another node leads, which
   * has the first of the uncommitted appends: none, some, or all. Resolves with the number of lost events.
   */
  async changeLeader(cutOffMs: number, electionMs: number): Promise<number> {
    const { simulation, random, store } = this;
    await (this.cutOff = simulation.pause(cutOffMs, simulation.world, 'another leader takes over'));
    this.cutOff = undefined;
    this.term++;
    this.leaderlessUntilMs = simulation.nowMs + electionMs;
    return store.loseAccepted(random.between(0, store.uncommitted.length));
  }

  /** Calls back once after a commit, whose events become readable a moment later. The returned function cancels it. */
  onCommit(committed: () => void): () => void {
    const wake = () => {
      this.waiting.delete(wake);
      committed();
    };
    this.waiting.add(wake);
    return () => this.waiting.delete(wake);
  }

  goAway(ms: number): void {
    this.awayUntilMs = Math.max(this.awayUntilMs, this.simulation.nowMs + ms);
  }

  private commitMs(): number {
    const { random, disk } = this;
    return random.next() * (random.oneIn(disk.slowOneIn) ? disk.slowMs : disk.usualMs);
  }
}
