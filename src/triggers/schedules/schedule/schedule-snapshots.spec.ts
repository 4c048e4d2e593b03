import { beforeEach, expect, it } from '@jest/globals';
import { CountedReads } from '../../../../test/support/counted-reads.js';
import { cause, eventsOf } from '../../../../test/support/turns.js';
import { decode } from '../../../kernel/event-sourcing/codec.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { create, type Schedule, schedule } from './schedule.decider.js';
import { type ScheduleEvent, scheduleStream } from './schedule.events.js';
import { type LedgerRules, SNAPSHOT_AFTER_SLOTS, SNAPSHOT_WITHIN_EVENTS_MAX, SLOTS_PER_APPEND_MAX } from './schedule.policy.js';
import { APPENDS_PER_CHECK_MAX, DecideSlots, DecideSlotsHandler } from './slot-ledger.commands.js';
import { endRun, decideSlots } from './slot-ledger.decider.js';
import { systemTiming } from '../../../platform/system-timing.js';

const MINUTE_MS = 60_000;
const START = Date.parse('2026-01-01T08:00:00Z');
const SLOTS = 2_000;
const rules: LedgerRules = {
  misfireGraceMs: MINUTE_MS,
  missedAfterMs: 10 * MINUTE_MS,
  runLimitMs: 15 * MINUTE_MS,
  failuresMax: 3,
};
const stream = scheduleStream('s1');
const after = (minutes: number) => new Date(START + minutes * MINUTE_MS);

let store: CountedReads;
let streams: Streams;
let known: Folded<Schedule>;
beforeEach(async () => {
  store = new CountedReads();
  streams = new Streams(store, systemTiming);
  const timing = { kind: 'recurring', cron: '* * * * *', timezone: 'UTC', endAt: null } as const;
  const definition = { name: null, instruction: 'Look.', timing, toolAllowlist: [], modelId: null, tokenBudget: null };
  const origin = { agentId: 'a', conversationId: 'c', createdVia: 'chat' } as const;
  known = await streams.transact(stream, schedule, create('s1', { ownerId: 'ann', origin, definition, now: after(0) }), cause);
});

/** The state when all events except snapshots are folded from the start. */
async function foldedFromTheStart(): Promise<Schedule> {
  const all = (await eventsOf(store, stream)).map((stored) => decode<ScheduleEvent>(schedule.codec, stored)!);
  return all.filter(({ type }) => type !== 'ScheduleSnapshotTaken').reduce(schedule.evolve, schedule.initial);
}

async function expectTheSame(): Promise<void> {
  store.events = 0;
  const { state } = await streams.fold(stream, schedule);
  expect(store.events).toBeLessThanOrEqual(SNAPSHOT_WITHIN_EVENTS_MAX);
  expect(state).toEqual({ ...(await foldedFromTheStart()), slotsSinceSnapshot: expect.any(Number) });
}

it('a schedule with years of runs is decided on without reading them all', async () => {
  for (let minute = 1; minute <= SLOTS; minute++) {
    const now = after(minute);
    const because = { ...cause, causationId: String(minute) };
    known = await streams.transact(stream, schedule, decideSlots(rules, now), because, known);
    const ending = { status: minute % 5 === 0 ? 'failed' : 'success', errorType: null, tokens: 0 } as const;
    known = await streams.transact(stream, schedule, endRun(known.state.openRun!.runId, ending, rules, now), because, known);
  }
  await expectTheSame();
  expect(known.state.slotsSinceSnapshot).toBeLessThan(SNAPSHOT_AFTER_SLOTS);
});

it('a schedule with years of missed slots takes snapshots while it catches up', async () => {
  const now = after(SLOTS);
  for (let appends = 0; appends < SLOTS / SLOTS_PER_APPEND_MAX; appends++) {
    known = await streams.transact(stream, schedule, decideSlots(rules, now), { ...cause, causationId: String(appends) }, known);
  }
  expect(known.state.nextSlotAt).toBe(after(SLOTS + 1).toISOString());
  await expectTheSame();
  expect(decideSlots(rules, now)(known.state)).toEqual([]);
});

it('a schedule that is far behind advances by a limited number of slots per command', async () => {
  const slots = SLOTS_PER_APPEND_MAX * APPENDS_PER_CHECK_MAX;
  const service = { ...rules, runTimeoutMs: 1, cadenceSecondsMin: 0, horizonMs: Infinity, perUserMax: 0 };
  const handler = new DecideSlotsHandler(streams, { now: () => after(3 * slots) }, service);
  const look = (id: string) => handler.execute(new DecideSlots('s1', { ...cause, causationId: id }));
  expect((await look('first')).decidedUntil).toBe(after(slots).toISOString());
  expect((await look('second')).decidedUntil).toBe(after(2 * slots).toISOString());
});
