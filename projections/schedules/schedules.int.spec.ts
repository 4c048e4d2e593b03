import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  runIdOf,
  type ScheduleEvent,
  type ScheduleOrigin,
  scheduleStream,
} from '../../src/triggers/schedules/schedule/schedule.events.js';
import { type ScheduledRunEvent, scheduledRunStream } from '../../src/triggers/schedules/runs/scheduled-run.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { dueSchedulesContract } from '../../test/contracts/read-models/schedules.contract.js';
import { LOG_BEGINNING_CHARACTERS, LOG_TEXTS_BYTES_MAX } from '../analytics-filters.js';
import { ReadModels } from '../read-models.js';
import { ScheduleLogQueries } from './schedule-log.queries.js';
import { schedules } from './schedules.projection.js';
import { ScheduleQueries } from './schedules.queries.js';
import { at, hourly, definition, created, slot, runId } from '../../test/contracts/read-models/schedules.given.js';

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ScheduleQueries;
const given = (scheduleId: string, ...events: ScheduleEvent[]) => model.given(scheduleStream(scheduleId), events);
const givenRun = (id: string, ...events: ScheduledRunEvent[]) => model.given(scheduledRunStream(id), events);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(schedules, database.sql);
  queries = new ScheduleQueries(new ReadModels(database.sql));
  await given('s1', created('s1'));
  await given('s2', created('s2', 'bob'));
});
afterAll(() => database.close());

describe('schedules', () => {
  it('are listed only for their agent, with their definition', async () => {
    const [first, ...others] = await queries.ofAgent('agent-of-ann');
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      id: 's1',
      ownerId: 'ann',
      status: 'active',
      instruction: 'Nul\uFFFD',
      triggerType: 'recurring',
      cron: '0 * * * *',
      timezone: 'Europe/Prague',
      toolAllowlist: ['t1'],
      tokenBudget: 5,
      nextSlotAt: new Date(at('09:00')),
    });
  });

  it.each(['+012026-01-01T00:00:00.000Z', '0044-03-15T00:00:00.000Z', '-000043-03-15T00:00:00.000Z'])(
    'end at their end time, also at %s',
    async (endAt) => {
      const scheduleId = `until ${endAt}`;
      const event = created(scheduleId, 'zoe', null) as Extract<ScheduleEvent, { type: 'ScheduleCreated' }>;
      const ending = { ...event.data, definition: { ...definition, timing: { ...hourly, endAt } } };
      await given(scheduleId, { type: 'ScheduleCreated', data: ending });
      expect(await queries.byId(scheduleId)).toMatchObject({ endAt: new Date(endAt) });
    },
  );

  it('show a run from its slot to its output', async () => {
    await given('s1', { type: 'ScheduleRunQueued', data: { ...slot('s1', 9), runId, queuedAt: at('09:00') } });
    expect(await queries.run('s1', runId)).toMatchObject({ status: 'pending', triggerSource: 'cron', startedAt: null });
    expect(await queries.runningSince(new Date(at('09:01')), 9)).toEqual(['s1']);
    await givenRun(runId, { type: 'ScheduledRunQueued', data: { runId, scheduleId: 's1', ownerId: 'ann' } });
    await givenRun(runId, { type: 'ScheduledRunStarted', data: { runId, startedAt: at('09:01') } });
    expect((await queries.run('s1', runId))?.status).toBe('running');
    const report = { output: 'Nothing\0', isOutputTruncated: true, error: null, promptTokens: 10, generatedTokens: 2 };
    await givenRun(runId, { type: 'ScheduledRunReported', data: { runId, report } });
    const end = { scheduleId: 's1', runId, status: 'failed', errorType: 'budget_exceeded' } as const;
    await given('s1', { type: 'ScheduleRunEnded', data: { ...end, failuresInARow: 1, endedAt: at('09:02') } });
    expect(await queries.run('s1', runId)).toMatchObject({
      status: 'failed',
      errorType: 'budget_exceeded',
      output: 'Nothing\uFFFD',
      isOutputTruncated: true,
      promptTokens: 10,
      finishedAt: new Date(at('09:02')),
    });
    expect(await queries.runningSince(new Date(at('23:00')), 9)).toEqual([]);
    expect(await queries.byId('s1')).toMatchObject({ failuresInARow: 1, lastRunAt: new Date(at('09:00')) });
  });

  it('have a row for every slot, and list runs without slots during a pause', async () => {
    await given(
      's1',
      { type: 'ScheduleMissed', data: slot('s1', 10) },
      { type: 'ScheduleSlotSkipped', data: { ...slot('s1', 11), reason: 'overlap' } },
      { type: 'SchedulePaused', data: { scheduleId: 's1', pausedAt: at('11:30') } },
      { type: 'ScheduleSlotPaused', data: slot('s1', 12) },
      {
        type: 'ScheduleSlotsPaused',
        data: { scheduleId: 's1', after: at('12:00'), until: at('12:30'), nextSlotAt: at('13:00') },
      },
      { type: 'ScheduleResumed', data: { scheduleId: 's1', resumedAt: at('12:30'), nextSlotAt: at('13:00') } },
      { type: 'ScheduleRunRequested', data: { scheduleId: 's1', runId: 'r-now', requestedAt: at('12:40') } },
    );
    const ledger = await database.sql<{ status: string; source: string }[]>`
      select status, trigger_source as source from schedules.run where schedule_id = 's1' order by scheduled_for`;
    expect(ledger.map(({ status, source }) => [status, source])).toEqual([
      ['failed', 'cron'],
      ['missed', 'cron'],
      ['skipped', 'cron'],
      ['paused', 'cron'],
      ['pending', 'manual'],
    ]);
    expect((await queries.runs('s1', 2, 1)).map(({ errorType }) => errorType)).toEqual(['overlap', 'missed']);
    expect(await queries.byId('s1')).toMatchObject({ status: 'active', failuresInARow: 0, markedSince: new Date(at('12:30')) });
    expect(await queries.statistics('agent-of-ann', new Date(at('00:00')))).toMatchObject({
      runs: 2,
      failed: 1,
      tokens: 12,
      latestFailure: { id: runId, ownerId: 'ann' },
    });
  });

  it('are changed, completed, and removed with their runs when they are deleted', async () => {
    const timing = { kind: 'once', runAt: at('20:00'), timezone: 'UTC' } as const;
    const changes = { name: null, timing };
    await given('s2', {
      type: 'ScheduleChanged',
      data: { scheduleId: 's2', changes, changedAt: at('09:00'), nextSlotAt: at('20:00') },
    });
    expect(await queries.byId('s2')).toMatchObject({ name: null, cron: null, triggerType: 'once', runAt: new Date(at('20:00')) });
    await given('s2', { type: 'ScheduleCompleted', data: { scheduleId: 's2', completedAt: at('20:01') } });
    expect(await queries.byId('s2')).toMatchObject({ status: 'completed', nextSlotAt: null, instruction: 'Nul\uFFFD' });
    await given('s2', { type: 'ScheduleDeleted', data: { scheduleId: 's2', deletedAt: at('20:02') } });
    expect(await queries.byId('s2')).toBeUndefined();
    // Events of a run that still continues have no effect.
    await givenRun('r2', { type: 'ScheduledRunStarted', data: { runId: 'r2', startedAt: at('20:03') } });
    expect(await queries.run('s2', 'r2')).toBeUndefined();
  });

  describe('of chats', () => {
    const task = (scheduleId: string, hour: number, origin: Partial<ScheduleOrigin>, ownerId = 'cleo'): ScheduleEvent => {
      const runAt = slot('', hour).slot;
      const timing = { kind: 'once', runAt, timezone: 'UTC' } as const;
      const from = { agentId: null, conversationId: 'c1', createdVia: 'chat', ...origin } as const;
      const data = {
        scheduleId,
        ownerId,
        origin: from,
        definition: { ...definition, timing },
        createdAt: at('08:30'),
        nextSlotAt: runAt,
      };
      return { type: 'ScheduleCreated', data };
    };
    const own = { ownerId: 'cleo', agentId: null, conversationId: 'c1' };
    const idsIn = async (chat: Parameters<ScheduleQueries['tasksIn']>[0], limit = 9) =>
      (await queries.tasksIn(chat, limit)).map(({ id }) => id);

    it('are listed for their chat or its agent, the next first', async () => {
      for (const event of [
        task('late', 20, {}),
        task('soon', 10, {}),
        task('of-agent', 11, { agentId: 'a1' }),
        task('of-agent-too', 12, { agentId: 'a1', conversationId: 'c2' }),
        task('elsewhere', 13, { conversationId: 'c2' }),
        task('of-dora', 14, {}, 'dora'),
        task('over', 15, {}),
        task('paused', 16, {}),
      ])
        await given((event.data as { scheduleId: string }).scheduleId, event);
      await given('over', { type: 'ScheduleCancelled', data: { scheduleId: 'over', cancelledAt: at('09:00') } });
      await given('paused', { type: 'SchedulePaused', data: { scheduleId: 'paused', pausedAt: at('09:00') } });
      expect(await idsIn(own)).toEqual(['soon', 'late']);
      expect(await idsIn(own, 1)).toEqual(['soon']);
      expect(await idsIn({ ...own, agentId: 'a1' })).toEqual(['of-agent', 'of-agent-too']);
      expect(await idsIn({ ...own, agentId: 'agent-of-ann' })).toEqual([]);
      expect(await idsIn({ ...own, ownerId: 'dora' })).toEqual(['of-dora']);
    });

    it('are listed for a chat without an agent as long as they are open', async () => {
      const open = await queries.openOfChat('c1');
      expect(open.map(({ id }) => id).sort()).toEqual(['late', 'of-dora', 'paused', 'soon']);
    });

    it('have the message to which the output of their run was added, also after that output is purged', async () => {
      const run = runIdOf('soon', slot('', 10).slot);
      await given('soon', {
        type: 'ScheduleRunQueued',
        data: { ...slot('soon', 10), nextSlotAt: null, runId: run, queuedAt: at('10:00') },
      });
      expect(await queries.run('soon', run)).toMatchObject({ conversationId: null, messageId: null });
      const message = { conversationId: 'c1', messageId: 'm1' };
      await givenRun(run, { type: 'ScheduledRunAppended', data: { runId: run, ...message } });
      expect(await queries.run('soon', run)).toMatchObject(message);
      const again = runIdOf('late', slot('', 20).slot);
      await given('late', {
        type: 'ScheduleRunQueued',
        data: { ...slot('late', 20), nextSlotAt: null, runId: again, queuedAt: at('20:00') },
      });
      const left = { runId: again, scheduleId: 'late', ownerId: 'cleo', startedAt: null, promptTokens: 1, generatedTokens: 1 };
      await givenRun(again, { type: 'ScheduledRunOutputPurged', data: { ...left, purgedAt: at('21:00'), message } });
      expect(await queries.run('late', again)).toMatchObject(message);
    });
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.runs('s1', 100, 0);
    await model.again();
    expect(await queries.runs('s1', 100, 0)).toEqual(before);
    await model.expectSameAfterRebuild();
  });

  it('use the index of slots to find due ones among a hundred thousand', async () => {
    await database.sql`
      insert into schedules.schedule (schedule_id, owner_id, created_via, status, instruction, trigger_type, timezone, tool_allowlist, next_slot_at, marked_since, created_at, updated_at)
      select 'many-' || n, 'ann', 'ui', 'active', '', 'recurring', 'UTC', '[]', '2026-02-01'::timestamptz + n * interval '1 second', now(), now(), now()
      from generate_series(1, 100000) n`;
    await database.sql`analyze schedules.schedule`;
    const plan = await database.sql`
      explain select schedule_id, next_slot_at from schedules.schedule
      where next_slot_at <= ${'2026-02-01T00:16:40Z'} and (status <> 'paused' or trigger_type = 'once') and (next_slot_at, schedule_id) > ('2026-01-15', '')
      order by next_slot_at, schedule_id limit 1000`;
    expect(JSON.stringify(plan)).toContain('schedule_due');
    const due = await queries.due(new Date('2026-02-01T00:16:40Z'), 2_000);
    expect(due.filter(({ scheduleId }) => scheduleId.startsWith('many-'))).toHaveLength(1_000);
  });
});

describe('schedules that are due', () =>
  dueSchedulesContract(() => inPostgres(schedules, (readModels) => new ScheduleQueries(readModels))));

it('the log shows the beginnings of older texts once the newer ones fill a page', async () => {
  const instruction = 'x'.repeat(1024 * 1024);
  const { data } = created('long', 'cleo') as Extract<ScheduleEvent, { type: 'ScheduleCreated' }>;
  await given('long', { type: 'ScheduleCreated', data: { ...data, definition: { ...definition, instruction } } });
  const slots = Array.from({ length: LOG_TEXTS_BYTES_MAX / instruction.length + 1 }, (_, hour) => slot('long', hour));
  const runIds = slots.map((each) => runIdOf('long', each.slot));
  for (const [index, each] of slots.entries()) {
    const queued = { ...each, runId: runIds[index]!, queuedAt: each.slot };
    await given('long', { type: 'ScheduleRunQueued', data: queued });
  }
  const entries = await new ScheduleLogQueries(new ReadModels(database.sql)).entries(runIds);
  const shortened = entries.filter(({ isShortened }) => isShortened);
  const beginning = instruction.slice(0, LOG_BEGINNING_CHARACTERS);
  expect(shortened.map((entry) => [entry.id, entry.summary, entry.instruction])).toEqual([[runIds[0], 'Look', beginning]]);
  expect(entries.filter((entry) => entry.instruction === instruction)).toHaveLength(runIds.length - 1);
});
