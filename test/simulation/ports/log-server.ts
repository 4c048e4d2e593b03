import type { Seeded } from '../../support/seeded.js';
import { InMemoryEventStore } from '../../support/in-memory-event-store.js';
import type { Simulation } from '../kernel/simulation.js';

/** How long commits take: usually, and one in so many. */
type Disk = Readonly<{ usualMs: number; slowMs: number; slowOneIn: number }>;

/** As measured of one node on disk (the losers of a race are told so before they can read the winner), and of a disk that has much to do. */
const DISKS: readonly Disk[] = [
  { usualMs: 3, slowMs: 70, slowOneIn: 8 },
  { usualMs: 3, slowMs: 70, slowOneIn: 8 },
  { usualMs: 120, slowMs: 400, slowOneIn: 5 },
];

/** How long the server leaves the writer of an append in the dark that is the same as one still in flight. */
export const IN_FLIGHT_TIMEOUT_MS = [2_000, 3_000] as const;

/** The event store as a server that all processes share, with the unkindnesses of a real one. */
export class LogServer {
  readonly store: InMemoryEventStore;
  /** Until when it answers nobody. */
  awayUntilMs = 0;
  /** How often another node has become the leader: who asked the one before does not hear its answer. */
  term = 0;
  /** While the leader is cut off: nothing is committed until then. */
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
   * The leader is cut off from the others: it accepts, and commits nothing. Then the others have another one, after an election:
   * what it has of the appends that are not committed is the beginning, none of them, or all. Resolves to how many are lost.
   */
  async changeLeader(cutOffMs: number, electionMs: number): Promise<number> {
    const { simulation, random, store } = this;
    await (this.cutOff = simulation.pause(cutOffMs, simulation.world, 'another leader takes over'));
    this.cutOff = undefined;
    this.term++;
    this.leaderlessUntilMs = simulation.nowMs + electionMs;
    return store.loseAccepted(random.between(0, store.uncommitted.length));
  }

  /** Calls back once when something was committed; it can be read a moment later. The returned function calls it off. */
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
