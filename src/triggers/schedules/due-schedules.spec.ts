import { beforeEach, expect, it } from '@jest/globals';
import type { Commands } from '../../kernel/commands.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import type { DueSchedule, ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { decodeCause } from '../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../kernel/event-sourcing/event-store.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { DueSchedules, SCHEDULES_PER_PAGE_MAX, SCHEDULES_PER_TICK_MAX } from './due-schedules.ticker.js';
import { create, schedule } from './schedule/schedule.decider.js';
import { scheduleStream } from './schedule/schedule.events.js';
import type { ScheduleRules } from './schedule/schedule-rules.js';
import type { SchedulerHeartbeat } from './scheduler-heartbeat.port.js';
import { type DecideSlots, DecideSlotsHandler } from './schedule/slot-ledger.commands.js';
import { systemIds } from '../../platform/system-ids.js';
import { systemTiming } from '../../platform/system-timing.js';

const MINUTE_MS = 60_000;
const START = Date.parse('2026-01-01T08:30:00Z');
const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;
const rules: ScheduleRules = {
  misfireGraceMs: MINUTE_MS,
  missedAfterMs: 10 * MINUTE_MS,
  runLimitMs: 15 * MINUTE_MS,
  runTimeoutMs: 10 * MINUTE_MS,
  failuresMax: 3,
  cadenceSecondsMin: 900,
  horizonMs: Infinity,
  perUserMax: 50,
};

let now: Date;
let streams: Streams;
let handler: DecideSlotsHandler;
let settled: string[];
let broken: readonly string[];
/** Why the broken schedules fail. */
let failure: Error;
let beats: Date[];
beforeEach(() => {
  now = new Date(START);
  streams = new Streams(new InMemoryEventStore(), systemTiming);
  handler = new DecideSlotsHandler(streams, { now: () => now }, rules);
  settled = [];
  broken = [];
  failure = new Error('broken');
  beats = [];
});

const commands = {
  execute: async (command: DecideSlots) => {
    settled.push(command.scheduleId);
    if (broken.includes(command.scheduleId)) throw failure;
    return handler.execute(command);
  },
} as unknown as Commands;

async function made(scheduleId: string): Promise<void> {
  const timing = { kind: 'recurring', cron: '0 * * * *', timezone: 'UTC', endAt: null } as const;
  const definition = { name: null, instruction: 'Look.', timing, toolAllowlist: [], modelId: null, tokenBudget: null };
  const origin = { agentId: 'a', conversationId: null, createdVia: 'ui' } as const;
  await streams.transact(
    scheduleStream(scheduleId),
    schedule,
    create(scheduleId, { ownerId: 'ann', origin, definition, now }),
    cause,
  );
}
const state = async (scheduleId: string) => (await streams.fold(scheduleStream(scheduleId), schedule)).state;

/** A read model that is always up to date. */
const listing = (ids: readonly string[], running: readonly string[] = []): ScheduleQueries =>
  ({
    runningSince: async (_: Date, limit: number) => running.slice(0, limit),
    due: async (until: Date, limit: number, after?: DueSchedule) => {
      const states = await Promise.all(ids.map(state));
      const due = states.filter(({ nextSlotAt }) => nextSlotAt !== null && nextSlotAt <= until.toISOString());
      const rest = due.map(({ id }) => id).filter((id) => !after || id > after.scheduleId);
      return rest.slice(0, limit).map((scheduleId) => ({ scheduleId, nextSlotAt: new Date('2026-01-01T09:00:00Z') }));
    },
  }) as unknown as ScheduleQueries;
const heartbeat: SchedulerHeartbeat = { beat: async (time) => void beats.push(time), isKeepingUp: async () => true };
const at = (minutes: number) => (now = new Date(START + minutes * MINUTE_MS));

it('a tick decides on the slots of all due schedules, page by page', async () => {
  const ids = Array.from({ length: SCHEDULES_PER_PAGE_MAX + 3 }, (_, index) => `s${String(index).padStart(4, '0')}`);
  for (const id of ids) await made(id);
  await new DueSchedules(commands, listing(ids), rules, heartbeat, systemIds).tick(at(30));
  expect(settled.toSorted()).toEqual(ids);
  for (const id of [ids[0]!, ids.at(-1)!]) expect((await state(id)).openRun).toMatchObject({ isSlot: true });
});

it('a tick begins a causal chain for each schedule, so that a trace shows the run of one owner only', async () => {
  const ids = ['s1', 's2'];
  for (const id of ids) await made(id);
  await new DueSchedules(commands, listing(ids), rules, heartbeat, systemIds).tick(at(30));
  const chains = await Promise.all(
    ids.map(async (id) => {
      const newest = await lastEvent(streams.store, scheduleStream(id));
      return decodeCause(newest!.metadata).correlationId;
    }),
  );
  expect(new Set([...chains, cause.correlationId]).size).toBe(3);
});

it('a tick checks a late slot again only when it can be decided', async () => {
  await made('s1');
  const ticker = new DueSchedules(commands, listing(['s1']), rules, heartbeat, systemIds);
  for (const minutes of [32, 33, 39]) await ticker.tick(at(minutes));
  expect(settled).toEqual(['s1']);
  expect(beats).toHaveLength(3);
  await ticker.tick(at(40));
  expect([settled.length, (await state('s1')).nextSlotAt]).toEqual([2, '2026-01-01T10:00:00.000Z']);
});

it('a tick continues with other schedules if one fails, and reports the failure', async () => {
  for (const id of ['s1', 's2', 's3']) await made(id);
  broken = ['s1'];
  const ticking = new DueSchedules(commands, listing(['s1', 's2', 's3']), rules, heartbeat, systemIds).tick(at(30));
  await expect(ticking).rejects.toThrow('could not be decided on: 1.');
  expect((await state('s3')).openRun).not.toBeNull();
  expect(beats).toHaveLength(1);
});

it('a tick continues after a failed timeout of a run, and after a page with a failure', async () => {
  const ids = Array.from({ length: SCHEDULES_PER_PAGE_MAX + 1 }, (_, index) => `s${String(index).padStart(4, '0')}`);
  for (const id of ids) await made(id);
  broken = [ids[0]!];
  await expect(new DueSchedules(commands, listing(ids, broken), rules, heartbeat, systemIds).tick(at(30))).rejects.toThrow(
    'decided on: 2.',
  );
  expect((await state(ids.at(-1)!)).openRun).not.toBeNull();
});

it('a tick continues after a page of schedules that all fail, and sends a heartbeat', async () => {
  const ids = Array.from({ length: SCHEDULES_PER_PAGE_MAX + 1 }, (_, index) => `s${String(index).padStart(4, '0')}`);
  for (const id of ids) await made(id);
  broken = ids.slice(0, -1);
  await expect(new DueSchedules(commands, listing(ids), rules, heartbeat, systemIds).tick(at(30))).rejects.toThrow(
    `decided on: ${SCHEDULES_PER_PAGE_MAX}.`,
  );
  expect((await state(ids.at(-1)!)).openRun).not.toBeNull();
  expect(beats).toHaveLength(1);
});

it('a tick stops without a heartbeat while the store is away', async () => {
  await made('s1');
  broken = ['s1'];
  failure = new StoreUnavailable('away');
  await expect(new DueSchedules(commands, listing(['s1']), rules, heartbeat, systemIds).tick(at(30))).rejects.toThrow(
    'decided on: 1.',
  );
  expect(beats).toEqual([]);
});

it('a tick times out runs that have not ended', async () => {
  await made('s1');
  await new DueSchedules(commands, listing(['s1']), rules, heartbeat, systemIds).tick(at(30));
  await new DueSchedules(commands, listing([], ['s1']), rules, heartbeat, systemIds).tick(at(46));
  expect(await state('s1')).toMatchObject({ openRun: null, failuresInARow: 1 });
});

it('a run is timed out although those of SCHEDULES_PER_PAGE_MAX schedules before it cannot be', async () => {
  await made('s1');
  await new DueSchedules(commands, listing(['s1']), rules, heartbeat, systemIds).tick(at(30));
  broken = Array.from({ length: SCHEDULES_PER_PAGE_MAX }, (_, index) => `b${index}`);
  const ticker = new DueSchedules(commands, listing([], [...broken, 's1']), rules, heartbeat, systemIds);
  // The second tick tries as many, but the one that has not failed first.
  await expect(ticker.tick(at(46))).rejects.toThrow(`decided on: ${broken.length}.`);
  await expect(ticker.tick(at(47))).rejects.toThrow(`decided on: ${broken.length - 1}.`);
  expect(await state('s1')).toMatchObject({ openRun: null, failuresInARow: 1 });
});

it('a tick stops at its maximum number of schedules', async () => {
  const pages: number[] = [];
  const endless = {
    runningSince: async () => [],
    due: async (_: Date, limit: number) => {
      pages.push(limit);
      return Array.from({ length: limit }, () => ({ scheduleId: 'gone', nextSlotAt: now }));
    },
  } as unknown as ScheduleQueries;
  const nothing = { execute: async () => schedule.initial } as unknown as Commands;
  await new DueSchedules(nothing, endless, rules, heartbeat, systemIds).tick(at(30));
  expect(pages.reduce((sum, each) => sum + each, 0)).toBe(SCHEDULES_PER_TICK_MAX);
  // A scheduler that is behind sends no heartbeat.
  expect(beats).toEqual([]);
});

it('a tick reaches due schedules however many others are waiting', async () => {
  const waiting = Array.from({ length: SCHEDULES_PER_TICK_MAX }, (_, index) => `s${String(index).padStart(5, '0')}`);
  await made('s');
  const late = await state('s');
  const due = new Map(waiting.map((id) => [id, '2026-01-01T09:00:00Z']));
  const queries = {
    runningSince: async () => [],
    due: async (_: Date, limit: number, after?: DueSchedule) => {
      const rest = [...due].slice(after ? [...due.keys()].indexOf(after.scheduleId) + 1 : 0);
      return rest.slice(0, limit).map(([scheduleId, slot]) => ({ scheduleId, nextSlotAt: new Date(slot) }));
    },
  } as unknown as ScheduleQueries;
  const looking = { execute: async ({ scheduleId }: DecideSlots) => (settled.push(scheduleId), late) } as unknown as Commands;
  const ticker = new DueSchedules(looking, queries, rules, heartbeat, systemIds);
  await ticker.tick(at(32));
  due.set('on time', '2026-01-01T09:03:00Z');
  settled = [];
  await ticker.tick(at(33));
  expect(settled).toEqual(['on time']);
});
