import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { InMemoryEventStore } from '../support/in-memory-event-store.js';
import { decode } from '../../src/kernel/codec.js';
import type { Decision } from '../../src/kernel/decider.js';
import type { EventStore, ExpectedRevision, NewEvent } from '../../src/kernel/event-store.js';
import type { Cause } from '../../src/kernel/events.js';
import { Rejection } from '../../src/kernel/rejection.js';
import { Streams } from '../../src/kernel/streams.js';
import { create, type Schedule, schedule } from '../../src/schedules/schedule.decider.js';
import { type ScheduleEvent, scheduleStream, type ScheduleTiming } from '../../src/schedules/schedule.events.js';
import type { LedgerRules } from '../../src/schedules/schedule.policy.js';
import { SettleSchedule, SettleScheduleHandler } from '../../src/schedules/settle-schedule.command.js';
import { change, pause, resume } from '../../src/schedules/schedule-changes.decider.js';
import { endRun } from '../../src/schedules/slot-ledger.decider.js';
import { slotsBetween } from '../../src/schedules/slots.policy.js';
import { Days, type Fields } from './recurrence-oracle.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START = Date.parse('2026-03-28T12:00:00Z');
const rules: LedgerRules = {
  misfireGraceMs: MINUTE_MS,
  missedAfterMs: 10 * MINUTE_MS,
  runLimitMs: 15 * MINUTE_MS,
  failuresMax: 3,
};
const cause: Cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' };

/** Dies right before or right after one of its appends; the process then has to be started anew. */
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

const DECIDED = new Set(['ScheduleRunQueued', 'ScheduleMissed', 'ScheduleSlotPaused', 'ScheduleSlotSkipped']);
type Slot = Readonly<{ type: string; slot: string }>;

async function eventsOf(store: EventStore, scheduleId: string): Promise<readonly ScheduleEvent[]> {
  const events: ScheduleEvent[] = [];
  for await (const page of store.read(scheduleStream(scheduleId))) {
    events.push(...page.map((stored) => decode<ScheduleEvent>(schedule.codec, stored)!));
  }
  return events;
}
const slotsIn = (events: readonly ScheduleEvent[]): readonly Slot[] =>
  events.filter(({ type }) => DECIDED.has(type)).map(({ type, data }) => ({ type, slot: (data as { slot: string }).slot }));

/** Two processes over one log, each with a clock of its own. */
class World {
  readonly store = new MortalStore();
  readonly streams = new Streams(this.store);
  offsetsMs = [0, 0];
  private requests = 0;
  private processes = [this.process(0), this.process(1)];

  constructor(
    readonly timings: Readonly<Record<string, Recurring>>,
    readonly start: number,
    public now = start,
  ) {}

  private process(index: number): SettleScheduleHandler {
    return new SettleScheduleHandler(
      new Streams(this.store),
      { now: () => this.clock(index) },
      { ...rules, runTimeoutMs: 1, cadenceSecondsMin: 0, horizonMs: Infinity, perUserMax: 0 },
    );
  }
  clock(index: number): Date {
    return new Date(this.now + this.offsetsMs[index]!);
  }
  /** A look by one process; one that is killed is started anew and knows nothing. */
  async look(index: number, scheduleId: string): Promise<void> {
    try {
      await this.processes[index]!.execute(new SettleSchedule(scheduleId, { ...cause, causationId: `tick-${this.requests++}` }));
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      this.processes[index] = this.process(index);
    }
  }
  async ask(scheduleId: string, decide: Decision<Schedule, ScheduleEvent>): Promise<void> {
    const because = { ...cause, causationId: `request-${this.requests++}` };
    try {
      await this.streams.transact(scheduleStream(scheduleId), schedule, decide, because);
    } catch (error) {
      if (!(error instanceof Rejection || error instanceof Killed)) throw error;
    }
  }
}

type Recurring = Extract<ScheduleTiming, { kind: 'recurring' }>;
const every = (cron: string, timezone: string): Recurring => ({ kind: 'recurring', cron, timezone, endAt: null });

const timings = {
  quarter: every('*/15 * * * *', 'Europe/Prague'),
  daily: every('30 2 * * *', 'Europe/Prague'),
  hourly: every('0 * * * *', 'Australia/Lord_Howe'),
};
type Name = keyof typeof timings;
const names = Object.keys(timings) as Name[];

async function started(of: Readonly<Record<string, Recurring>> = timings, start = START): Promise<World> {
  const world = new World(of, start);
  for (const [scheduleId, timing] of Object.entries(of)) {
    const terms = { name: null, instruction: 'Look.', timing, toolAllowlist: [], modelId: null, tokenBudget: null };
    const origin = { agentId: null, conversationId: null, createdVia: 'ui' } as const;
    await world.ask(scheduleId, create(scheduleId, { ownerId: 'ann', origin, terms, now: new Date(start) }));
  }
  return world;
}

const due = (timing: ScheduleTiming, until: Date): readonly string[] =>
  slotsBetween(timing, new Date(START), until, 10_000).map((slot) => slot.toISOString());

/** The ledger of a schedule whose timing never changed says every slot once, in order, as far as it has come. */
const expectWhole = (events: readonly ScheduleEvent[], slots: readonly string[]): void =>
  expect(slotsIn(events).map(({ slot }) => slot)).toEqual(slots);

/** The days in which the clocks of a zone change, as the zone's own law has it. */
const CHANGES = [
  ['Europe/Prague', 'forward', '2026-03-29T01:00:00Z'],
  ['Europe/Prague', 'back', '2026-10-25T01:00:00Z'],
  ['America/Santiago', 'forward', '2026-09-06T04:00:00Z'],
  ['America/Santiago', 'back', '2026-04-05T03:00:00Z'],
  ['Australia/Lord_Howe', 'forward', '2026-10-03T15:30:00Z'],
  ['Australia/Lord_Howe', 'back', '2026-04-04T15:00:00Z'],
] as const;

describe.each(CHANGES)('in %s, when the clocks go %s', (timezone, _, at) => {
  const change = Date.parse(at);
  const ofZone = {
    quarter: every('*/15 * * * *', timezone),
    byTheClocks: every('30 */2 * * *', timezone),
    night: every('15,45 0,1,2,3,23 * * *', timezone),
    midnight: every('0 0 * * *', timezone),
  };
  const scheduleIds = Object.keys(ofZone) as (keyof typeof ofZone)[];
  /** By a look at every minute on the clocks of the zone. */
  const seen = (from: number, until: number) => {
    const days = new Days(timezone, from, until);
    return (id: keyof typeof ofZone) => days.slots(ofZone[id].cron.split(' ') as unknown as Fields);
  };

  it('two processes, twenty minutes apart, decide on every slot once', async () => {
    const world = await started(ofZone, change - 13 * HOUR_MS);
    world.offsetsMs = [-10 * MINUTE_MS, 10 * MINUTE_MS];
    for (; world.now < change + 13 * HOUR_MS; world.now += 5 * MINUTE_MS) {
      for (const id of scheduleIds) await Promise.all([world.look(0, id), world.look(1, id)]);
    }
    world.now -= 5 * MINUTE_MS;
    // The clock that is ahead makes every slot early, and none is doubled by the one behind.
    const slots = seen(world.start, world.now + 10 * MINUTE_MS);
    for (const id of scheduleIds) {
      const events = await eventsOf(world.store, id);
      expectWhole(events, slots(id));
      expect(slotsIn(events).filter(({ type }) => type === 'ScheduleMissed')).toEqual([]);
    }
  });

  it('nobody is there for a day: its slots are missed, and the one that has just come is run', async () => {
    const world = await started(ofZone, change - 12 * HOUR_MS);
    world.now += 24 * HOUR_MS;
    for (let looks = 0; looks < 4; looks++) for (const id of scheduleIds) await world.look(looks % 2, id);
    const slots = seen(world.start, world.now);
    for (const id of scheduleIds) expectWhole(await eventsOf(world.store, id), slots(id));
    const fates = slotsIn(await eventsOf(world.store, 'quarter')).map(({ type }) => type);
    expect([new Set(fates.slice(0, -1)), fates.at(-1)]).toEqual([new Set(['ScheduleMissed']), 'ScheduleRunQueued']);
  });
});

it('calls the slots of an outage missed, also more of them than one append takes, and runs the next one', async () => {
  const world = await started();
  const minutely: ScheduleTiming = every('* * * * *', 'Europe/Prague');
  await world.ask(
    'quarter',
    change({ ownerId: 'ann', rules, now: new Date(START) }, () => ({ timing: minutely })),
  );
  world.now = START + 24 * HOUR_MS;
  for (let looks = 0; looks < 10; looks++) for (const name of names) await world.look(looks % 2, name);
  const types = slotsIn(await eventsOf(world.store, 'quarter')).map(({ type }) => type);
  expect(types).toHaveLength(24 * 60);
  expect(new Set(types.slice(0, -2))).toEqual(new Set(['ScheduleMissed']));
  // A slot of a minute ago may still be run; it is under way when the next is looked at.
  expect(types.slice(-2)).toEqual(['ScheduleRunQueued', 'ScheduleSlotSkipped']);
  expectWhole(await eventsOf(world.store, 'daily'), due(timings.daily, new Date(world.now)));
});

it('misses a slot only once nobody can be about to start it', async () => {
  const world = await started();
  const slot = Date.parse('2026-03-28T12:15:00Z');
  const after = async (minutes: number) => {
    world.now = slot + minutes * MINUTE_MS;
    await world.look(0, 'quarter');
    return slotsIn(await eventsOf(world.store, 'quarter')).map(({ type }) => type);
  };
  expect([await after(2), await after(9.9), await after(10)]).toEqual([[], [], ['ScheduleMissed']]);
});

it('loses and doubles nothing, whatever the clocks, the owner and the machines do', async () => {
  const step = fc.record({
    passesMs: fc.oneof(fc.integer({ min: 0, max: 20 * MINUTE_MS }), fc.constantFrom(0, MINUTE_MS, 25 * HOUR_MS)),
    offsetsMs: fc
      .tuple(fc.integer({ min: -10, max: 10 }), fc.integer({ min: -10, max: 10 }))
      .map((each) => each.map((n) => n * MINUTE_MS)),
    kill: fc.constantFrom(undefined, undefined, 'before', 'after'),
    name: fc.constantFrom(...names),
    deed: fc.constantFrom('look', 'look', 'look', 'look together', 'pause', 'resume', 'run ends', 'run fails'),
    process: fc.constantFrom(0, 1),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const world = await started();
      for (const { passesMs, offsetsMs, kill, name, deed, process } of steps) {
        world.now += passesMs;
        world.offsetsMs = offsetsMs;
        world.store.killAt = kill;
        const asking = { ownerId: 'ann', rules, now: world.clock(process) };
        const { state } = await world.streams.fold(scheduleStream(name), schedule);
        const runId = state.openRun?.runId ?? '';
        if (deed === 'look') await world.look(process, name);
        if (deed === 'look together') await Promise.all([world.look(0, name), world.look(1, name)]);
        if (deed === 'pause') await world.ask(name, pause(asking));
        if (deed === 'resume') await world.ask(name, resume(asking));
        if (deed === 'run ends')
          await world.ask(name, endRun(runId, { status: 'success', errorType: null, tokens: 0 }, rules, asking.now));
        if (deed === 'run fails')
          await world.ask(name, endRun(runId, { status: 'failed', errorType: 'internal', tokens: 0 }, rules, asking.now));
      }
      world.store.killAt = undefined;
      // At twelve past no slot waits any more.
      world.now = Math.ceil(world.now / HOUR_MS + 1) * HOUR_MS + 12 * MINUTE_MS;
      world.offsetsMs = [0, 0];
      // Two hundred slots an append, and the steps cannot pass more than sixty days.
      for (let looks = 0; looks < 40; looks++) for (const name of names) await world.look(looks % 2, name);
      for (const name of names) {
        const events = await eventsOf(world.store, name);
        const { state } = await world.streams.fold(scheduleStream(name), schedule);
        expectWhole(events, due(timings[name], new Date(Math.max(world.now, Date.parse(state.decidedUntil)))));
        expectFitting(events);
      }
    }),
    { numRuns: 60 },
  );
});

/** Slots are paused exactly between a pause and a resumption, and no two runs of a schedule are open at once. */
function expectFitting(events: readonly ScheduleEvent[]): void {
  let isPaused = false;
  let openRun: string | undefined;
  for (const { type, data } of events) {
    if (type === 'SchedulePaused' || type === 'ScheduleAutoPaused') isPaused = true;
    if (type === 'ScheduleResumed') isPaused = false;
    if (DECIDED.has(type)) expect(type === 'ScheduleSlotPaused').toBe(isPaused);
    if (type === 'ScheduleRunQueued') {
      expect(openRun).toBeUndefined();
      openRun = data.runId;
    }
    if (type === 'ScheduleRunEnded') openRun = undefined;
  }
}
