import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { type ScheduleEvent, scheduleStream } from '../../../src/triggers/schedules/schedule/schedule.events.js';
import type { ReadModelUnderTest } from './read-model.subject.js';
import { at, created, slot, runId } from './schedules.given.js';

type Queries = Pick<ScheduleQueries, 'due' | 'runningSince'>;

/** The contract of the queries for schedules with a slot to decide or a run that takes long. */
export function dueSchedulesContract(setUp: () => Promise<ReadModelUnderTest<Queries>>): void {
  let state: ReadModelUnderTest<Queries>;
  let queries: Queries;
  const given = (scheduleId: string, ...events: ScheduleEvent[]) => state.given(scheduleStream(scheduleId), events);
  const due = async (time: string) => (await queries.due(new Date(at(time)), 9)).map(({ scheduleId }) => scheduleId);

  beforeAll(async () => {
    state = await setUp();
    ({ queries } = state);
    await given('s1', created('s1'));
    await given('s2', created('s2', 'bob'));
  });
  afterAll(() => state.close());

  it('are due in the order of their slots, in pages', async () => {
    await given('s3', created('s3', 'ann', at('08:45')));
    await given('s4', created('s4', 'ann', at('10:00')));
    const now = new Date(at('09:00'));
    const [first, second] = await queries.due(now, 2);
    const rest = await queries.due(now, 2, second);
    expect([first, second, ...rest].map((each) => each?.scheduleId)).toEqual(['s3', 's1', 's2']);
    await given('s3', { type: 'ScheduleDeleted', data: { scheduleId: 's3', deletedAt: at('08:31') } });
    await given('s4', { type: 'ScheduleDeleted', data: { scheduleId: 's4', deletedAt: at('08:31') } });
  });

  it('are due for the next slot once one is decided, and have a run under way until it ends', async () => {
    await given('s1', { type: 'ScheduleRunQueued', data: { ...slot('s1', 9), runId, queuedAt: at('09:00') } });
    expect([await due('09:59'), await due('10:00')]).toEqual([['s2'], ['s2', 's1']]);
    const running = (time: string) => queries.runningSince(new Date(at(time)), 9);
    expect([await running('09:00'), await running('09:01')]).toEqual([[], ['s1']]);
    const end = { scheduleId: 's1', runId, status: 'success', errorType: null, failuresInARow: 0, endedAt: at('09:02') } as const;
    await given('s1', { type: 'ScheduleRunEnded', data: end });
    expect(await running('23:00')).toEqual([]);
  });

  it('are not due while they are paused, except one-time schedules, whose slot does not recur', async () => {
    const once = created('s6') as Extract<ScheduleEvent, { type: 'ScheduleCreated' }>;
    const timing = { kind: 'once', runAt: at('09:00'), timezone: 'UTC' } as const;
    await given('s5', created('s5'));
    await given('s6', { ...once, data: { ...once.data, definition: { ...once.data.definition, timing } } });
    for (const scheduleId of ['s5', 's6'])
      await given(scheduleId, { type: 'SchedulePaused', data: { scheduleId, pausedAt: at('08:40') } });
    expect(await due('09:30')).toEqual(['s2', 's6']);
    const span = { scheduleId: 's5', after: at('08:30'), until: at('09:30'), nextSlotAt: at('10:00') };
    await given('s5', { type: 'ScheduleSlotsPaused', data: span });
    await given('s5', { type: 'ScheduleResumed', data: { scheduleId: 's5', resumedAt: at('09:30'), nextSlotAt: at('10:00') } });
    expect(await due('10:00')).toEqual(['s2', 's6', 's1', 's5']);
    for (const scheduleId of ['s5', 's6'])
      await given(scheduleId, { type: 'ScheduleDeleted', data: { scheduleId, deletedAt: at('10:01') } });
  });

  it('are due at the slot that their owner sets by resuming, and for nothing once they have ended', async () => {
    await given('s2', { type: 'ScheduleMissed', data: slot('s2', 9) });
    await given('s2', { type: 'ScheduleResumed', data: { scheduleId: 's2', resumedAt: at('12:30'), nextSlotAt: at('13:00') } });
    expect(await due('12:59')).toEqual(['s1']);
    await given('s1', { type: 'ScheduleCancelled', data: { scheduleId: 's1', cancelledAt: at('10:30') } });
    expect(await due('23:00')).toEqual(['s2']);
    await given('s2', { type: 'ScheduleCompleted', data: { scheduleId: 's2', completedAt: at('13:30') } });
    expect(await due('23:00')).toEqual([]);
  });
}
