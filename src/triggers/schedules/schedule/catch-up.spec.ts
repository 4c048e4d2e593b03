import { beforeEach, describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { APPENDS_PER_COMMAND_MAX, transactCaughtUp } from './catch-up.js';
import { create, schedule } from './schedule.decider.js';
import { type ScheduleEvent, scheduleStream } from './schedule.events.js';
import { type LedgerRules, SLOTS_PER_APPEND_MAX } from './schedule.policy.js';
import { pause, remove, requestRun } from './schedule-changes.decider.js';
import { EndScheduleRun, EndScheduleRunHandler } from './slot-ledger.commands.js';
import { systemTiming } from '../../../platform/system-timing.js';

const MINUTE_MS = 60_000;
const START = Date.parse('2026-01-01T08:00:00Z');
const rules: LedgerRules = {
  misfireGraceMs: MINUTE_MS,
  missedAfterMs: 10 * MINUTE_MS,
  runLimitMs: 15 * MINUTE_MS,
  failuresMax: 3,
};
const afterMinutes = (minutes: number) => new Date(START + minutes * MINUTE_MS);
const by = (now: Date, ownerId = 'ann') => ({ ownerId, rules, now });

let streams: Streams;
beforeEach(async () => {
  streams = new Streams(new InMemoryEventStore(), systemTiming);
  const timing = { kind: 'recurring', cron: '* * * * *', timezone: 'UTC', endAt: null } as const;
  const definition = { name: null, instruction: 'Look.', timing, toolAllowlist: [], modelId: null, tokenBudget: null };
  const origin = { agentId: 'a', conversationId: null, createdVia: 'ui' } as const;
  const decide = create('s1', { ownerId: 'ann', origin, definition, now: afterMinutes(0) });
  await streams.transact(scheduleStream('s1'), schedule, decide, cause);
});
const ask = (decide: Parameters<typeof transactCaughtUp>[2], asking: Parameters<typeof transactCaughtUp>[3]) =>
  transactCaughtUp(streams, 's1', decide, asking, cause);

describe('a schedule that is far behind', () => {
  it.each<[string, typeof pause, readonly ScheduleEvent['type'][]]>([
    ['paused', pause, ['ScheduleRunQueued', 'ScheduleSlotSkipped', 'SchedulePaused']],
    ['deleted', remove, ['ScheduleSlotSkipped', 'ScheduleSlotSkipped', 'ScheduleDeleted']],
  ])('is %s after all due slots are decided in order', async (_, decide, ends) => {
    const asking = by(afterMinutes(3 * SLOTS_PER_APPEND_MAX + 7));
    const { events, revision } = await ask(decide(asking), asking);
    expect(events.slice(-3).map(({ type }) => type)).toEqual(ends);
    const snapshots = 3;
    expect(revision).toBe(3 * SLOTS_PER_APPEND_MAX + 7 + snapshots + 1);
  });

  it('pauses itself after the last failure of requested runs', async () => {
    const now = afterMinutes(9 * SLOTS_PER_APPEND_MAX);
    const rulesOfService = { ...rules, runTimeoutMs: 0, cadenceSecondsMin: 0, horizonMs: 0, perUserMax: 0 };
    const handler = new EndScheduleRunHandler(streams, { now: () => now }, rulesOfService);
    const failed = { status: 'failed', errorType: 'agent_error', tokens: 0 } as const;
    for (let runs = 1; runs <= rules.failuresMax; runs++) {
      await ask(requestRun(by(now), `run-${runs}`), by(now));
      await handler.execute(new EndScheduleRun('s1', `run-${runs}`, failed, cause));
    }
    const { state } = await streams.fold(scheduleStream('s1'), schedule);
    expect(state).toMatchObject({ status: 'paused', openRun: null, failuresInARow: rules.failuresMax });
  });

  it('is not changed by another user', async () => {
    const asking = by(afterMinutes(3 * SLOTS_PER_APPEND_MAX), 'bob');
    await expect(ask(pause(asking), asking)).rejects.toMatchObject({ code: 'schedule-not-found' });
    expect((await streams.fold(scheduleStream('s1'), schedule)).revision).toBe(0);
  });

  it('rejects a command that would need too many appends, and is less behind afterwards', async () => {
    const asking = by(afterMinutes(SLOTS_PER_APPEND_MAX * (APPENDS_PER_COMMAND_MAX + 1)));
    await expect(ask(pause(asking), asking)).rejects.toMatchObject({ code: 'schedule-catching-up' });
    const { revision } = await streams.fold(scheduleStream('s1'), schedule);
    expect(revision).toBe((SLOTS_PER_APPEND_MAX + 1) * (APPENDS_PER_COMMAND_MAX - 1));
    await expect(ask(pause(asking), asking)).resolves.toMatchObject({ state: { status: 'paused' } });
  });
});
