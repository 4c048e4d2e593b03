import {
  type Appended,
  EventStore,
  type ExpectedRevision,
  type LogFilter,
  type LogPage,
  type LogReading,
  type NewEvent,
  type Retention,
  type StoredEvent,
  StoreUnavailable,
  type StreamReading,
  WrongRevision,
} from '../../../src/kernel/event-sourcing/event-store.js';
import type { Seeded } from '../../support/seeded.js';
import { type Actor, lifeOf } from '../kernel/actor.js';
import type { Simulation } from '../kernel/simulation.js';
import type { Coverage } from '../world/coverage.js';
import type { LogFollower } from './log-follower.js';
import type { LogServer } from './log-server.js';
import type { Network } from './network.js';

/** How long a process waits for a server that does not respond. */
const ANSWER_TIMEOUT_MS = [200, 2_500] as const;

export type StoreFaults = Readonly<{ lostAnswerOneIn: number; inFlightTimeoutMs: readonly [number, number] }>;

/** The event store of one process, over an unreliable network. */
export class ProcessStore extends EventStore {
  constructor(
    private readonly simulation: Simulation,
    private readonly actor: Actor,
    private readonly network: Network,
    private readonly server: LogServer,
    private readonly faults: StoreFaults,
    private readonly random: Seeded,
    private readonly coverage: Coverage,
    /** Serves reads that may be stale: replays, projections and reactions. Decisions read from the leader. */
    readonly follower: LogFollower | undefined,
  ) {
    super();
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    const label = `append ${stream} after ${expected}: ${events.map(({ type }) => type).join(', ')}`;
    const isLost = this.random.oneIn(this.faults.lostAnswerOneIn);
    return this.call(label, async () => {
      const { term } = this.server;
      try {
        const appended = this.server.store.append(stream, expected, events);
        // The connection is lost while the server works: the append happens, but the response is lost.
        if (isLost) {
          appended.catch(() => undefined);
          this.coverage.note('an answer of the store was lost');
          throw new StoreUnavailable('The connection was lost.');
        }
        const answer = await appended;
        if (this.server.term !== term) throw new LeaderChanged();
        return answer;
      } catch (error) {
        if (error instanceof WrongRevision) this.noteLostRace(error);
        if (this.server.term !== term) {
          this.coverage.note('an append was under way while the leader changed');
          throw new LeaderChanged();
        }
        if (!isLost && error instanceof StoreUnavailable) {
          this.coverage.note('an append was the same as one in flight');
          await this.simulation.pause(
            this.random.between(...this.faults.inFlightTimeoutMs),
            this.simulation.world,
            'the log gives up',
          );
        }
        throw error;
      }
    });
  }

  override async lastRevision(stream: string): Promise<ExpectedRevision> {
    return this.call(`last revision of ${stream}`, () => this.server.store.lastRevision(stream));
  }

  override async *read(stream: string, reading?: StreamReading): AsyncIterable<readonly StoredEvent[]> {
    yield* await this.call(`read ${stream}`, () => collected(this.server.store.read(stream, reading)));
  }

  override async *readAll(reading: LogReading): AsyncIterable<LogPage> {
    const pages = await this.call('read all', () => collected(this.server.store.readAll(reading)));
    for (const page of pages) {
      const shown = this.follower?.pageOf(page, reading.after) ?? page;
      yield shown;
      if (shown !== page && shown.caughtUp) return;
    }
  }

  override async *followAll(after: bigint, filter: LogFilter, signal: AbortSignal): AsyncIterable<LogPage> {
    for (let position = after; !signal.aborted;) {
      const committed = this.nextCommit();
      for await (const page of this.readAll({ after: position, filter })) {
        yield page;
        ({ position } = page);
      }
      await committed;
    }
  }

  override async setRetention(stream: string, retention: Retention): Promise<void> {
    await this.call(`retention of ${stream}`, () => this.server.store.setRetention(stream, retention));
  }

  override head(): Promise<bigint> {
    return this.call('head', () => this.server.store.head());
  }

  private call<T>(label: string, serve: () => T | Promise<T>): Promise<T> {
    return this.network.call(this.actor, label, async () => {
      if (!this.server.hasLeader) {
        this.coverage.note('there was no leader');
        throw new StoreUnavailable('There is no leader.');
      }
      if (this.server.isAway) {
        this.coverage.note('the store was away');
        await this.simulation.pause(this.random.between(...ANSWER_TIMEOUT_MS), this.simulation.world, 'nobody answers');
        throw new StoreUnavailable('The store does not answer.');
      }
      return serve();
    });
  }

  /** Resolves after the next commit. A caller that calls it before a read misses no later event. */
  private nextCommit(): Promise<void> {
    const life = lifeOf(this.actor);
    return new Promise((resolve) => {
      const hears = () => this.simulation.afterFor(this.network.delayMs(), life, 'hears of a commit', resolve);
      if (this.follower) this.follower.onMore(hears);
      else this.server.onCommit(hears);
    });
  }

  private noteLostRace({ stream, actual }: WrongRevision): void {
    this.coverage.note('a race was lost');
    void this.server.store.lastRevision(stream).then((visible) => {
      if (visible === 'none' ? actual !== 'none' : actual !== 'none' && actual !== 'unknown' && visible < actual)
        this.coverage.note('a race was lost to what nobody could read yet');
    });
  }
}

class LeaderChanged extends StoreUnavailable {
  constructor() {
    super('The leader has changed: nobody knows what came of the append.');
  }
}

async function collected<T>(pages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const page of pages) all.push(page);
  return all;
}
