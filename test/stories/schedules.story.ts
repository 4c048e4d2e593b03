import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { type Fields, ScheduleCalls, YEARLY } from '../support/schedules.js';
import { say, until } from '../support/scripted-model-server.js';
import { openWorld, type World } from '../support/world.js';

const SCHEDULES_MAX = 6;
const HOUR_MS = 3_600_000;
const HORIZON_MS = 366 * 24 * HOUR_MS;
const NOT_FOUND = { success: false, message: 'schedule not found' };
const refusal = (message: string) => ({ success: false, message });
const conflict = (message: string, error: string) => ({ success: false, message, error });
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

/** Agents run on a schedule: what is accepted and refused, and the states of a one-time schedule. */
export function schedulesStory(makeBacking: MakeBacking): void {
  let world: World;
  let calls: ScheduleCalls;
  let agentId: string;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    calls = await ScheduleCalls.of(world);
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    world.model.reset();
    agentId = (await world.agent()).id;
  });

  describe('a schedule', () => {
    it('is shown as it was created, with its next slot in its time zone', async () => {
      const reply = await calls.createReply(agentId, { name: 'Year', tool_allowlist: ['t1'], token_budget: 500 });
      expect([reply.status, reply.headers.get('x-position')]).toEqual([201, expect.stringMatching(/^\d+$/)]);
      const { schedule } = reply.body as { schedule: Fields & { id: string } };
      const year = new Date().getUTCMonth() === 11 && new Date().getUTCDate() === 31 ? undefined : new Date().getUTCFullYear();
      expect(schedule).toEqual({
        id: expect.any(String),
        user_id: await world.idOf('alice'),
        agent_id: agentId,
        trigger_type: 'recurring',
        name: 'Year',
        instruction: 'Sum up the year.',
        status: 'active',
        cron: '0 9 31 12 *',
        run_at: null,
        timezone: 'Europe/Prague',
        next_run_at: year ? `${year}-12-31T08:00:00.000Z` : expect.any(String),
        last_run_at: null,
        end_at: null,
        tool_allowlist: ['t1'],
        model_id: null,
        token_budget: 500,
        origin_conversation_id: null,
        created_via: 'ui',
        consecutive_failure_count: 0,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect((await calls.send('GET', `/api/agents/${agentId}/schedules`)).body).toEqual({ schedules: [schedule] });
      expect((await calls.send('GET', `/api/schedules/${schedule.id}`)).body).toEqual({ schedule });
      await calls.remove(schedule.id);
    });

    it.each<[Fields, string]>([
      [{ instruction: ' ' }, 'instruction is required'],
      [{ trigger_type: 'monitor' }, "trigger_type must be 'recurring' or 'once'"],
      [{ cron: '*/5 * * * *' }, 'cadence below minimum interval (300s < 900s)'],
      [{ timezone: '+02:00' }, 'unknown timezone'],
      [{ end_at: '2020-01-01' }, 'end_at is before the first cron tick'],
      [{ token_budget: -1 }, 'token_budget must be a non-negative integer'],
      [{ cron: undefined }, 'cron is required'],
      [{ cron: '0 9 * *' }, 'invalid cron: it needs 5 fields'],
      [{ cron: '0 0 30 2 *' }, 'invalid cron: it never comes due'],
      [{ end_at: 'soon' }, 'invalid end_at'],
      [{ run_at: inMs(HOUR_MS) }, 'run_at is only for one-time schedules'],
      [{ model_id: 'nope' }, 'model_id names no model of this service: nope'],
      [{ model_id: 7 }, 'model_id must be a text of at most 200 characters'],
      [{ name: 7 }, 'name must be a text of at most 200 characters'],
      [{ tool_allowlist: 't1' }, 'tool_allowlist must be a list of at most 200 tool ids'],
      [{ trigger_type: 'once' }, 'cron is only for recurring schedules'],
      [{ trigger_type: 'once', cron: undefined }, "run_at is required for trigger_type 'once'"],
      [{ trigger_type: 'once', cron: undefined, run_at: 'soon' }, 'invalid run_at'],
      [{ trigger_type: 'once', cron: undefined, run_at: '2020-01-01' }, 'run_at must be in the future'],
      [{ trigger_type: 'once', cron: undefined, run_at: inMs(HORIZON_MS) }, 'run_at is too far in the future'],
    ])('with %j is refused, and does not count towards the limit', async (fields, message) => {
      const { status, body } = await calls.createReply(agentId, fields);
      expect([status, body]).toEqual([400, refusal(message)]);
    });

    it('is changed, paused and resumed by its owner', async () => {
      const { id } = await calls.create(agentId);
      const put = await calls.send('PUT', `/api/schedules/${id}`, { name: 'Noon', cron: '0 12 31 12 *', trigger_type: 'once' });
      expect(put.body).toMatchObject({ schedule: { name: 'Noon', cron: '0 12 31 12 *', trigger_type: 'recurring' } });
      expect((await calls.send('PUT', `/api/schedules/${id}`, { run_at: '2030-01-01' })).status).toBe(400);
      expect((await calls.change(id, { instruction: '' })).body).toEqual(refusal('instruction is required'));
      expect((await calls.change(id, { model_id: 'nope' })).status).toBe(400);
      expect((await calls.change(id, { model_id: 'scripted' })).body).toMatchObject({ schedule: { model_id: 'scripted' } });
      const act = (action: string) => calls.act(id, action);
      expect((await act('pause')).body).toMatchObject({ schedule: { status: 'paused', next_run_at: null } });
      expect((await act('pause')).status).toBe(200);
      expect((await act('resume')).body).toMatchObject({ schedule: { status: 'active', next_run_at: expect.any(String) } });
      expect([(await act('stop')).status, (await act('stop')).body]).toEqual([
        400,
        { success: false, message: "action must be 'pause' or 'resume'" },
      ]);
      expect((await calls.remove(id)).body).toEqual({ success: true });
      expect([(await calls.remove(id)).status, (await calls.remove(id)).body]).toEqual([404, NOT_FOUND]);
    });

    it('completes when its end is moved to before its next slot', async () => {
      const { id } = await calls.create(agentId);
      const ended = await calls.change(id, { end_at: inMs(1_000) });
      expect(ended.body).toMatchObject({ schedule: { status: 'completed', next_run_at: null, end_at: expect.any(String) } });
      const reply = await calls.act(id, 'pause');
      expect([reply.status, reply.body]).toEqual([409, conflict('schedule is terminal', 'schedule_terminal')]);
    });

    it('is closed to other users', async () => {
      const { id } = await calls.create(agentId);
      const paths = [['GET', ''], ['PUT', ''], ['PATCH', ''], ['DELETE', ''], ['POST', '/run'], ['GET', '/runs'], ['GET', `/runs/${newId()}`]]; // oxfmt-ignore
      for (const [method, path] of paths) {
        const body = method === 'PUT' || method === 'PATCH' ? { action: 'pause' } : undefined;
        const strange = await calls.send(method!, `/api/schedules/${id}${path}`, body, 'bob');
        expect([strange.status, strange.body]).toEqual([404, NOT_FOUND]);
        expect((await calls.send(method!, `/api/schedules/${id}${path}`, body, 'nobody')).status).toBe(401);
        expect((await calls.send(method!, `/api/schedules/7${path}`, body)).body).toEqual({
          success: false,
          message: 'invalid schedule id',
        });
      }
      for (const path of ['', '/stats']) {
        const strange = await calls.send('GET', `/api/agents/${agentId}/schedules${path}`, undefined, 'bob');
        expect([strange.status, strange.body]).toEqual([404, { success: false, message: 'agent not found' }]);
      }
      await calls.remove(id);
    });

    it('is deleted with its agent', async () => {
      const { id } = await calls.create(agentId);
      expect((await calls.send('DELETE', `/api/delete_agent?id=${agentId}`)).status).toBe(200);
      await eventually(async () => (await calls.send('GET', `/api/schedules/${id}`)).status === 404);
    });

    it('counts towards the limit of its owner, even if many are created at once', async () => {
      await world.service.restart({ SCHEDULE_MAX_PER_USER: String(SCHEDULES_MAX) });
      const { id: agent } = await world.agent({}, await world.as('carol'));
      const path = `/api/agents/${agent}/schedules`;
      const replies = await Promise.all(
        Array.from({ length: SCHEDULES_MAX + 4 }, () => calls.send('POST', path, YEARLY, 'carol')),
      );
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(SCHEDULES_MAX);
      const refused = replies.find(({ status }) => status !== 201)!;
      expect([refused.status, refused.body]).toEqual([429, { success: false, message: 'max schedules per user reached' }]);
      await world.service.restart();
    });
  });

  describe('a one-time schedule', () => {
    const inAnHour = () => ({ trigger_type: 'once', cron: undefined, run_at: inMs(HOUR_MS) });

    it('runs once at its time, reports the result, and completes', async () => {
      world.model.next(say('All ', 'quiet.'));
      const { id, run_at: runAt } = await calls.createDueSoon(agentId);
      const run = await calls.endOfRun(id);
      expect(run).toEqual({
        id: expect.any(String),
        schedule_id: id,
        user_id: await world.idOf('alice'),
        agent_id: agentId,
        status: 'success',
        scheduled_for: runAt,
        trigger_source: 'cron',
        started_at: expect.any(String),
        finished_at: expect.any(String),
        output: 'All quiet.',
        output_truncated: false,
        error: null,
        error_type: null,
        prompt_tokens: expect.any(Number),
        generated_tokens: expect.any(Number),
        conversation_id: null,
        message_id: null,
        celery_task_id: run['id'],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect(world.model.completions.at(-1)!.body.messages.at(-1)).toEqual({ role: 'user', content: 'Sum up the year.' });
      expect(await calls.scheduleOf(id)).toMatchObject({
        status: 'completed',
        next_run_at: null,
        last_run_at: expect.any(String),
      });
      expect((await calls.send('GET', `/api/schedules/${id}/runs/${String(run['id'])}`)).body).toEqual({ run });
      const terminal = conflict('schedule is terminal', 'schedule_terminal');
      expect((await calls.send('PATCH', `/api/schedules/${id}`, { action: 'resume' })).body).toEqual(terminal);
      expect((await calls.send('PUT', `/api/schedules/${id}`, { run_at: '2030-01-01' })).status).toBe(400);
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
      expect((await calls.send('PUT', `/api/schedules/${id}`, { run_at: tomorrow })).status).toBe(409);
      expect((await calls.runNow(id)).status).toBe(409);
      expect((await calls.runsOf(id)).length).toBe(1);
    });

    it('is moved by its owner, and shows no next run while it is paused', async () => {
      const { id } = await calls.create(agentId, inAnHour());
      const moved = inMs(2 * HOUR_MS);
      expect((await calls.change(id, { run_at: moved })).body).toMatchObject({
        schedule: { run_at: moved, next_run_at: moved, status: 'active' },
      });
      const naive = `${new Date(Date.now() + 30 * 24 * HOUR_MS).toISOString().slice(0, 10)}T12:00:00`;
      expect((await calls.change(id, { run_at: naive, timezone: 'Asia/Tokyo' })).body).toMatchObject({
        schedule: { run_at: `${naive.slice(0, 10)}T03:00:00.000Z`, timezone: 'Asia/Tokyo' },
      });
      for (const [runAt, message] of [
        ['2020-01-01', 'run_at must be in the future'],
        [inMs(HORIZON_MS), 'run_at is too far in the future'],
        ['soon', 'invalid run_at'],
        [null, "run_at is required for trigger_type 'once'"],
      ]) {
        const { status, body } = await calls.change(id, { run_at: runAt });
        expect([status, body]).toEqual([400, refusal(message!)]);
      }
      await calls.act(id, 'pause');
      const again = inMs(3 * HOUR_MS);
      const paused = await calls.change(id, { run_at: again });
      expect(paused.body).toMatchObject({ schedule: { run_at: again, next_run_at: null, status: 'paused' } });
      expect((await calls.act(id, 'resume')).body).toMatchObject({ schedule: { next_run_at: again, status: 'active' } });
      await calls.remove(id);
    });

    it('cannot be moved while it runs, and continues with the time to which it is resumed meanwhile', async () => {
      let finish = () => {};
      world.model.next([until(new Promise<void>((resolve) => (finish = resolve))), ...say('Done.')]);
      const { id } = await calls.createDueSoon(agentId);
      await eventually(async () => (await calls.runsOf(id))[0]?.['status'] === 'running');
      const moved = await calls.change(id, { run_at: inMs(HOUR_MS) });
      expect([moved.status, moved.body]).toEqual([409, conflict('the once schedule has already started', 'run_started')]);
      expect(await calls.scheduleOf(id)).toMatchObject({ status: 'active', next_run_at: null });
      await calls.act(id, 'pause');
      const next = inMs(HOUR_MS);
      await calls.act(id, 'resume', { run_at: next });
      finish();
      expect(await calls.endOfRun(id)).toMatchObject({ status: 'success', output: 'Done.' });
      expect(await calls.scheduleOf(id)).toMatchObject({ status: 'active', next_run_at: next });
      await calls.remove(id);
    });

    it('whose time passes while the service is down runs late', async () => {
      const { id } = await calls.createDueSoon(agentId);
      await world.service.restart();
      expect(await calls.endOfRun(id)).toMatchObject({ status: 'success', trigger_source: 'cron' });
    });

    it('that is paused past its time needs another time', async () => {
      const { id } = await calls.create(agentId, inAnHour());
      const act = (body: Fields) => calls.send('PATCH', `/api/schedules/${id}`, body);
      await act({ action: 'pause' });
      const past = inMs(3_000);
      await calls.change(id, { run_at: past });
      await eventually(() => Date.now() > Date.parse(past));
      const reply = await act({ action: 'resume' });
      expect(reply.status).toBe(409);
      const elapsed = 'the once schedule has elapsed; recreate it or supply a new run_at';
      expect(reply.body).toEqual(conflict(elapsed, 'schedule_elapsed'));
      const inVain = await act({ action: 'resume', run_at: '2020-01-01' });
      expect([inVain.status, inVain.body]).toEqual([409, conflict('run_at must be in the future to resume', 'schedule_elapsed')]);
      const runAt = new Date(Date.now() + 3_600_000).toISOString();
      expect((await act({ action: 'resume', run_at: runAt })).body).toMatchObject({
        schedule: { status: 'active', run_at: runAt, next_run_at: runAt },
      });
      expect(await calls.runsOf(id)).toEqual([]);
      await calls.remove(id);
    });
  });
}
