import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { type UserEvent, userStream } from '../../src/views/notifications/user.events.js';
import { type ScheduleEvent, runIdOf, scheduleStream } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { append } from '../support/accounts.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { type Fields, ScheduleCalls } from '../support/schedules.js';
import { call, hang, refuse, say, until } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const DAY_MS = 86_400_000;

/** The runs of a schedule, and its slots without a run. */
export function scheduleRunsStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let calls: ScheduleCalls;
  let agentId: string;

  beforeAll(async () => {
    post = await LocalServer.started();
    post.answer = (_request, response) => answerJson(response, { posted: true });
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SCHEDULE_AUTOPAUSE_FAILURES: '2' };
    world = await openWorld(settings, makeBacking);
    calls = await ScheduleCalls.of(world);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(async () => {
    world.model.reset();
    agentId = (await world.agent()).id;
  });

  /** The events about a schedule that Alice's tabs were sent, up to its resumption. */
  const toldOf = async (id: string) => {
    let told: readonly UserEvent[] = [];
    await eventually(async () => {
      const events: UserEvent[] = [];
      for await (const page of world.backing.store.read(userStream(await world.idOf('alice')))) {
        events.push(...page.map(({ data }) => JSON.parse(data) as UserEvent));
      }
      told = events.filter(({ scope }) => scope.id === id);
      return told.at(-1)?.type === 'schedule.resumed';
    });
    return told;
  };
  describe('a run', () => {
    it('on demand is an additional one, and only one runs at a time', async () => {
      const { id } = await calls.create(agentId);
      let finish = () => {};
      world.model.next([until(new Promise<void>((resolve) => (finish = resolve))), ...say('Done.')]);
      const first = await calls.runNow(id);
      // Another process may have begun it already.
      const run = { status: expect.stringMatching(/^(pending|running)$/), trigger_source: 'manual' };
      expect([first.status, first.body]).toMatchObject([202, { run }]);
      const second = await calls.runNow(id);
      const refused = { success: false, message: 'a run is already in flight', error: 'run_in_flight' };
      expect([second.status, second.body]).toEqual([409, refused]);
      await eventually(async () => (await calls.runsOf(id))[0]!['status'] === 'running');
      finish();
      expect(await calls.endOfRun(id)).toMatchObject({ status: 'success', output: 'Done.' });
      await calls.remove(id);
    });

    it('that fails repeatedly pauses its schedule, which shows the number of failures', async () => {
      world.model.always([refuse(400)]);
      const { id } = await calls.create(agentId);
      for (const failures of [1, 2]) {
        await calls.runNow(id);
        await eventually(async () => (await calls.scheduleOf(id))['consecutive_failure_count'] === failures);
      }
      expect(await calls.endOfRun(id)).toMatchObject({ status: 'failed', error_type: 'agent_error', error: expect.any(String) });
      expect(await calls.scheduleOf(id)).toMatchObject({ status: 'paused', next_run_at: null });
      const { body } = await calls.send('GET', `/api/agents/${agentId}/schedules/stats`);
      const [latest] = await calls.runsOf(id);
      expect(body).toEqual({ days: 30, runs: 2, failed: 2, tokens: 0, latest_failure: latest });
      for (const [asked, days] of [
        ['366', 365],
        ['0', 1],
        ['many', 30],
      ]) {
        const stats = await calls.send('GET', `/api/agents/${agentId}/schedules/stats?days=${asked}`);
        expect([stats.status, stats.body]).toMatchObject([200, { days }]);
      }
      const resumed = await calls.send('PATCH', `/api/schedules/${id}`, { action: 'resume' });
      expect(resumed.body).toMatchObject({ schedule: { status: 'active', consecutive_failure_count: 0 } });
      const told = await toldOf(id);
      expect(told.map(({ type }) => type)).toEqual([
        'schedule.created',
        'schedule.run.failed',
        'schedule.run.failed',
        'schedule.autopaused',
        'schedule.resumed',
      ]);
      expect(told[3]!.payload).toEqual({
        run_id: expect.any(String),
        schedule_id: id,
        agent_id: agentId,
        trigger_type: 'recurring',
        status: 'paused',
        consecutive_failure_count: 2,
      });
      await calls.remove(id);
    });

    it('that used more than its budget fails', async () => {
      const { id } = await calls.create(agentId, { token_budget: 0 });
      await calls.runNow(id);
      expect(await calls.endOfRun(id)).toMatchObject({
        status: 'failed',
        error_type: 'budget_exceeded',
        output: expect.any(String),
      });
      await calls.remove(id);
    });

    it('that takes too long is stopped', async () => {
      await world.service.restart({ SCHEDULE_RUN_TIMEOUT: '1' });
      const { id } = await calls.create(agentId);
      world.model.next([hang]);
      await calls.runNow(id);
      expect(await calls.endOfRun(id)).toMatchObject({ status: 'timeout', error_type: 'timeout' });
      await calls.remove(id);
      await world.service.restart();
    });

    it('may call what its schedule allows, and nothing else that requires approval', async () => {
      const action = { url: `${post.url}/drop`, method: 'POST', description: 'Drops', active: true, require_approval: true };
      const config = { actions: { drop: { name: 'drop', ...action } } };
      const tool = { name: 'api_tool', displayName: 'API', description: '-', status: true, config };
      const { id: toolId } = (await replyOf(world.alice.post('/api/create_tool', tool))).body as { id: string };
      const able = await world.agent({ tools: [toolId] });
      for (const [allowlist, requests] of [
        [[], 0],
        [[toolId], 1],
      ] as const) {
        const { id } = await calls.create(able.id, { tool_allowlist: allowlist });
        world.model.next([call('c1', 'drop', {})], say('Done.'));
        await calls.runNow(id);
        expect(await calls.endOfRun(id)).toMatchObject({ status: 'success', output: 'Done.' });
        expect(post.requests).toHaveLength(requests);
        await calls.remove(id);
      }
    });

    it('is listed in pages', async () => {
      const { id } = await calls.create(agentId);
      for (let index = 0; index < 3; index++) {
        await calls.runNow(id);
        await calls.endOfRun(id);
      }
      const page = (await calls.send('GET', `/api/schedules/${id}/runs?limit=2&offset=1`)).body as { runs: Fields[] };
      expect(page).toMatchObject({ limit: 2, offset: 1 });
      expect(page.runs.map((run) => run['id'])).toEqual((await calls.runsOf(id)).slice(1).map((run) => run['id']));
      for (const [asked, limit, offset] of [
        ['limit=201', 200, 0],
        ['limit=0&offset=-1', 1, 0],
        ['limit=all', 50, 0],
      ]) {
        const { body } = await calls.send('GET', `/api/schedules/${id}/runs?${asked}`);
        expect(body).toMatchObject({ limit, offset });
      }
      expect((await calls.send('GET', `/api/schedules/${id}/runs/${newId()}`)).body).toEqual({
        success: false,
        message: 'run not found',
      });
      await calls.remove(id);
    });

    it('fails if the quota of its owner is used up', async () => {
      await world.service.restart({ QUOTA_PERIOD: 'day', QUOTA_TOKENS_PER_USER: '1' });
      const { id } = await calls.create(agentId);
      world.model.always(say('One two three.'));
      await calls.runNow(id);
      await calls.endOfRun(id);
      await calls.runNow(id);
      expect(await calls.endOfRun(id)).toMatchObject({ status: 'failed', error_type: 'budget_exceeded', output: null });
      await calls.remove(id);
      await world.service.restart();
    });
  });

  describe('a slot', () => {
    it('without a run is listed among the runs with the reason, unless it passed during a pause', async () => {
      const { id } = await calls.create(agentId);
      const slot = (daysAgo: number) => new Date(Math.floor(Date.now() / DAY_MS - daysAgo) * DAY_MS).toISOString();
      const decided = (daysAgo: number) => ({ scheduleId: id, slot: slot(daysAgo), nextSlotAt: slot(-300) });
      const ledger: readonly ScheduleEvent[] = [
        { type: 'ScheduleMissed', data: decided(4) },
        { type: 'ScheduleSlotPaused', data: decided(3) },
        { type: 'ScheduleSlotSkipped', data: { ...decided(2), reason: 'overlap' } },
        { type: 'ScheduleSlotSkipped', data: { ...decided(1), reason: 'cancelled' } },
      ];
      await append(world.backing.store, scheduleStream(id), ...ledger);
      await eventually(async () => (await calls.runsOf(id)).length === 3);
      const runs = await calls.runsOf(id);
      expect(runs.map(({ status, error_type: reason }) => [status, reason])).toEqual([
        ['skipped', 'cancelled'],
        ['skipped', 'overlap'],
        ['skipped', 'missed'],
      ]);
      expect(runs[2]).toEqual({
        id: runIdOf(id, slot(4)),
        schedule_id: id,
        user_id: await world.idOf('alice'),
        agent_id: agentId,
        status: 'skipped',
        scheduled_for: slot(4),
        trigger_source: 'cron',
        started_at: null,
        finished_at: expect.any(String),
        output: null,
        output_truncated: false,
        error: null,
        error_type: 'missed',
        prompt_tokens: 0,
        generated_tokens: 0,
        conversation_id: null,
        message_id: null,
        celery_task_id: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect((await calls.send('GET', `/api/schedules/${id}/runs/${runIdOf(id, slot(3))}`)).status).toBe(404);
      await calls.remove(id);
    });
  });
}
