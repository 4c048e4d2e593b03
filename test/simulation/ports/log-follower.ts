import { LOG_START, type LogPage, type StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import type { Seeded } from '../../support/seeded.js';
import type { Simulation } from '../kernel/simulation.js';
import type { LogServer } from './log-server.js';

const LAG_MS = [1, 40] as const;
const LONG_LAG_MS = [200, 1_500] as const;
const LONG_ONE_IN = 30;

/** A node that is not the leader. It receives committed events with a delay. */
export class LogFollower {
  /** The position up to which it has received the log. */
  private position = LOG_START;
  private isCatchingUp = false;
  private readonly waiting = new Set<() => void>();
  private readonly random: Seeded;

  constructor(
    private readonly simulation: Simulation,
    private readonly leader: LogServer,
    name: string,
  ) {
    this.random = simulation.random(`follower of ${name}`);
    this.hearOfCommits();
  }

  /** Calls back once when more events can be read. */
  onMore(more: () => void): void {
    this.waiting.add(more);
  }

  /** The part of the leader's events that has arrived here. */
  shownOf(events: readonly StoredEvent[]): readonly StoredEvent[] {
    return events.filter(({ position }) => position <= this.position);
  }

  pageOf({ events, position, caughtUp }: LogPage, after: bigint): LogPage {
    if (position <= this.position) return { events, position, caughtUp };
    return { events: this.shownOf(events), position: this.position > after ? this.position : after, caughtUp: true };
  }

  private hearOfCommits(): void {
    this.leader.onCommit(() => {
      this.hearOfCommits();
      if (this.isCatchingUp) return;
      this.isCatchingUp = true;
      const [min, max] = this.random.oneIn(LONG_ONE_IN) ? LONG_LAG_MS : LAG_MS;
      const { simulation } = this;
      simulation.after(this.random.between(min, max), simulation.world, 'a follower catches up', () => void this.catchUp());
    });
  }

  private async catchUp(): Promise<void> {
    this.isCatchingUp = false;
    this.position = await this.leader.store.head();
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const more of waiting) more();
  }
}
