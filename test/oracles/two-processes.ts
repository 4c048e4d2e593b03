import type { Decision } from '../../src/kernel/event-sourcing/decider.js';
import { decode } from '../../src/kernel/event-sourcing/codec.js';
import type { ExpectedRevision, NewEvent } from '../../src/kernel/event-sourcing/event-store.js';
import type { Cause } from '../../src/kernel/event-sourcing/events.js';
import { Rejection } from '../../src/kernel/rejection.js';
import { Streams } from '../../src/kernel/event-sourcing/streams.js';
import { transactCaughtUp } from '../../src/triggers/schedules/schedule/catch-up.js';
import { create, type Schedule, schedule } from '../../src/triggers/schedules/schedule/schedule.decider.js';
import {
  type ScheduleEvent,
  scheduleStream,
  type ScheduleTiming,
} from '../../src/triggers/schedules/schedule/schedule.events.js';
import { type LedgerRules, runLimitMs } from '../../src/triggers/schedules/schedule/schedule.policy.js';
import type { Asked } from '../../src/triggers/schedules/schedule/schedule-changes.decider.js';
import { DecideSlots, DecideSlotsHandler } from '../../src/triggers/schedules/schedule/slot-ledger.commands.js';
import { InMemoryEventStore } from '../support/in-memory-event-store.js';
import { systemTiming } from '../../src/platform/system-timing.js';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export const rules: LedgerRules = {
  misfireGraceMs: MINUTE_MS,
  missedAfterMs: 10 * MINUTE_MS,
  runLimitMs: runLimitMs(10 * MINUTE_MS),
  failuresMax: 3,
};
const OWNER = 'ann';
/** The token budget of each schedule. */
export const TOKEN_BUDGET = 100;
const cause: Cause = { actor: `user:${OWNER}`, credential: 'session-token', correlationId: 'r', causationId: 'r' };

export type Recurring = Extract<ScheduleTiming, { kind: 'recurring' }>;
export const every = (cron: string, timezone: string, endAt: string | null = null): Recurring => ({
  kind: 'recurring',
  cron,
  timezone,
  endAt,
});

/** Thrown right before or right after an append. The process then has to be restarted. */
class Killed extends Error {}
class MortalStore extends InMemoryEventStore {
  killAt: 'before' | 'after' | undefined;
  override async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
    const { killAt } = this;
    this.killAt = undefined;
    if (killAt === 'before') throw new Killed();
    const appended = await super.append(stream, expected, events);
    if (killAt === 'after') throw new Killed();
    return appended;
  }
}

/** Two processes over one log, each with its own clock. Time passes only when the test sets it. */
export class TwoProcesses {
  readonly store = new MortalStore();
  offsetsMs: readonly number[] = [0, 0];
  private readonly streams = new Streams(this.store, systemTiming);
  private requests = 0;
  private processes = [this.process(0), this.process(1)];

  private constructor(
    readonly start: number,
    public now = start,
  ) {}

  /** Creates schedules at the start, with the given ids. */
  static async with(timings: Readonly<Record<string, ScheduleTiming>>, start: number): Promise<TwoProcesses> {
    const world = new TwoProcesses(start);
    for (const [scheduleId, timing] of Object.entries(timings)) {
      const definition = {
        name: null,
        instruction: 'Look.',
        timing,
        toolAllowlist: [],
        modelId: null,
        tokenBudget: TOKEN_BUDGET,
      };
      const origin = { agentId: null, conversationId: null, createdVia: 'ui' } as const;
      const decide = create(scheduleId, { ownerId: OWNER, origin, definition, now: new Date(start) });
      await world.streams.transact(scheduleStream(scheduleId), schedule, decide, cause);
    }
    return world;
  }

  clock(index: number): Date {
    return new Date(this.now + this.offsetsMs[index]!);
  }

  /** The request context of the owner, by the clock of a process. */
  asking(index: number): Asked {
    return { ownerId: OWNER, rules, now: this.clock(index) };
  }

  /** Lets one process decide slots. A killed process is restarted without any memory. */
  async look(index: number, scheduleId: string): Promise<void> {
    try {
      await this.processes[index]!.execute(new DecideSlots(scheduleId, this.because('tick')));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.processes[index] = this.process(index);
    }
  }

  /** Sends a command to a process, which accepts it, refuses it, or is killed. */
  async ask(index: number, scheduleId: string, decide: Decision<Schedule, ScheduleEvent>): Promise<void> {
    try {
      await transactCaughtUp(this.streams, scheduleId, decide, this.asking(index), this.because('request'));
    } catch (error) {
      if (!(error instanceof Rejection || error instanceof Killed)) throw error;
    }
  }

  async stateOf(scheduleId: string): Promise<Schedule> {
    return (await this.streams.fold(scheduleStream(scheduleId), schedule)).state;
  }

  async eventsOf(scheduleId: string): Promise<readonly ScheduleEvent[]> {
    const events: ScheduleEvent[] = [];
    for await (const page of this.store.read(scheduleStream(scheduleId))) {
      events.push(...page.map((stored) => decode<ScheduleEvent>(schedule.codec, stored)!));
    }
    return events;
  }

  private process(index: number): DecideSlotsHandler {
    return new DecideSlotsHandler(
      new Streams(this.store, systemTiming),
      { now: () => this.clock(index) },
      { ...rules, runTimeoutMs: 1, cadenceSecondsMin: 0, horizonMs: Infinity, perUserMax: 0 },
    );
  }

  private because(what: string): Cause {
    return { ...cause, causationId: `${what}-${this.requests++}` };
  }
}
