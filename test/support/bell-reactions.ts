import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { type Logger, pino } from 'pino';
import type { LogReading } from '../../src/kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../src/kernel/event-sourcing/events.js';
import type { Reaction } from '../../src/kernel/event-sourcing/reaction.js';
import type { Timing } from '../../src/kernel/timing.js';
import { Reactions } from '../../src/platform/reactions/reactions.js';
import { systemTiming } from '../../src/platform/system-timing.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { type TestDatabase, testDatabase } from './postgres-for-tests.js';

export type Rang = Event<'BellRang', { times: number }>;
export const rang = (times: number): Rang => ({ type: 'BellRang', data: { times } });

type Sql = TestDatabase['sql'];
type Act = (event: Recorded<Rang>, signal: AbortSignal) => Promise<void>;
type Means = { declared?: Partial<Reaction<Rang>>; log?: Logger; sql?: Sql; timing?: Timing };

/** The bells of a suite. Each test begins with an empty log and without tables of reactions. */
export function bellReactions(): BellReactions {
  const bells = new BellReactions();
  beforeAll(() => bells.open());
  afterAll(() => bells.close());
  beforeEach(() => bells.begin());
  afterEach(() => bells.stop());
  return bells;
}

/** A log of bells, and processes in which the reaction `answer-door` follows it. */
export class BellReactions {
  store!: InMemoryEventStore;
  /** Stream and number of each event on which a process has acted. */
  heard: string[] = [];
  private running: Reactions[] = [];
  private database!: TestDatabase;

  get sql(): Sql {
    return this.database.sql;
  }

  async open(): Promise<void> {
    this.database = await testDatabase();
  }

  close(): Promise<void> {
    return this.database.close();
  }

  async begin(): Promise<void> {
    await this.sql`drop schema if exists reactions cascade`;
    this.store = new InMemoryEventStore();
    this.heard = [];
    this.running = [];
  }

  readonly listen = async ({ stream, data }: Recorded<Rang>) => void this.heard.push(`${stream} ${data.times}`);

  /** Starts a process. */
  start(
    act: Act = this.listen,
    { declared = {}, log = pino({ level: 'silent' }), sql = this.sql, timing = systemTiming }: Means = {},
  ): Reactions {
    const reaction: Reaction<Rang> = {
      name: 'answer-door',
      categories: ['bell'],
      codec: { BellRang: [] },
      on: { BellRang: act },
      ...declared,
    };
    const reactions = new Reactions({ sql, store: this.store, timing, log }, [reaction]);
    this.running.push(reactions);
    reactions.start();
    return reactions;
  }

  stop(): Promise<unknown> {
    return Promise.all(this.running.map((reactions) => reactions.stop()));
  }

  async isCheckpointAt(position: bigint): Promise<boolean> {
    const [row] = await this.sql<{ position: string }[]>`select position::text from reactions.reaction_checkpoint`;
    return row?.position === String(position);
  }

  parkedEvents() {
    return this.sql<{ reaction: string; stream: string; error: string }[]>`
      select reaction, stream, error from reactions.parked order by reaction, parked.position`;
  }

  /** The present log, with this end. */
  endingAt(end: bigint) {
    return { end: async () => end, readAll: (reading: LogReading) => this.store.readAll(reading) };
  }
}
