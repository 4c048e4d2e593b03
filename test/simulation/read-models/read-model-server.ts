import { LOG_START, type StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import type { Seeded } from '../../support/seeded.js';
import type { Actor } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { LogServer } from '../ports/log-server.js';
import type { Network } from '../ports/network.js';
import { JobsTwin } from './jobs.twin.js';
import { MonitorsTwin } from './monitors.twin.js';
import { SchedulesTwin } from './schedules.twin.js';
import { TasksTwin } from './tasks.twin.js';
import { UnsealedTurnsTwin } from './unsealed-turns.twin.js';
import { FollowUpsTwin } from './follow-ups.twin.js';

const LAG_MS = [5, 60] as const;
/** The lag when another projector takes over, or when the database is slow. */
const LONG_LAG_MS = [500, 4_000] as const;
const LONG_ONE_IN = 60;

/** The read models as a database that all processes share. They follow the log, sometimes far behind. */
export class ReadModelServer {
  readonly unsealedTurns = new UnsealedTurnsTwin();
  readonly tasks = new TasksTwin();
  readonly schedules = new SchedulesTwin();
  readonly jobs = new JobsTwin();
  readonly monitors = new MonitorsTwin();
  readonly followUps = new FollowUpsTwin();
  private position = LOG_START;
  private readonly random: Seeded;

  constructor(
    private readonly simulation: Simulation,
    private readonly network: Network,
    private readonly server: LogServer,
  ) {
    this.random = simulation.random('read models');
    this.followLater();
  }

  /** The queries as one process has them: each call goes over the network. */
  reached<T extends object>(queries: T, actor: Actor): T {
    const { network } = this;
    return new Proxy(queries, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as unknown;
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) =>
          network.call(actor, `query ${String(name)}`, () => Reflect.apply(method, target, args) as unknown);
      },
    });
  }

  private followLater(): void {
    const [min, max] = this.random.oneIn(LONG_ONE_IN) ? LONG_LAG_MS : LAG_MS;
    const lagMs = this.random.between(min, max);
    this.server.onCommit(() => this.simulation.after(lagMs, this.simulation.world, 'read models look', () => void this.follow()));
  }

  private async follow(): Promise<void> {
    // Scheduled before the read, so that a commit during it is not missed.
    this.followLater();
    for await (const page of this.server.store.readAll({ after: this.position })) {
      for (const event of page.events) this.apply(event);
      this.position = page.position;
    }
  }

  apply(event: StoredEvent): void {
    if (event.stream.startsWith('conversation-')) this.unsealedTurns.apply(event);
    if (event.stream.startsWith('task-')) this.tasks.apply(event);
    for (const { tables } of [this.schedules, this.jobs, this.monitors, this.followUps])
      if (tables.wants(event)) tables.apply(event);
  }
}
