import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SessionTokens } from '../../src/identity/session-tokens.js';
import { newId } from '../../src/kernel/ids.js';
import { type UserEvent, userStream } from '../../src/realtime/user.events.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, hang, refuse, say, wait } from '../support/scripted-model-server.js';
import { openWorld, type Reply, replyOf, type World } from '../support/world.js';

type Fields = Record<string, unknown>;
const SCHEDULES_MAX = 6;
const NOT_FOUND = { success: false, message: 'schedule not found' };

/** Agents do things at set times: what is accepted, what is refused, and what becomes of each run. */
export function schedulesStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let agentId: string;
  const bearers = new Map<string, string>();

  beforeAll(async () => {
    post = await LocalServer.started();
    post.answer = (_request, response) => answerJson(response, { posted: true });
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SCHEDULE_AUTOPAUSE_FAILURES: '2' };
    world = await openWorld(settings, makeBacking);
    const tokens = world.service.service.app.get(SessionTokens, { strict: false });
    for (const userId of ['alice', 'bob', 'carol']) bearers.set(userId, `Bearer ${await tokens.issue({ userId, roles: [] })}`);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(async () => {
    world.model.reset();
    agentId = (await world.agent()).id;
  });

  const send = (method: string, path: string, body?: unknown, as = 'alice'): Promise<Reply> =>
    replyOf(
      fetch(world.service.url + path, {
        method,
        headers: { authorization: bearers.get(as) ?? '', ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  const yearly = { instruction: 'Sum up the year.', cron: '0 9 31 12 *', timezone: 'Europe/Prague' };
  const createReply = (fields: Fields, agent = agentId) =>
    send('POST', `/api/agents/${agent}/schedules`, { ...yearly, ...fields });
  const create = async (fields: Fields = {}, agent = agentId): Promise<Fields & { id: string }> => {
    const { status, body } = await createReply(fields, agent);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return (body as { schedule: Fields & { id: string } }).schedule;
  };
  const scheduleOf = async (id: string) => ((await send('GET', `/api/schedules/${id}`)).body as { schedule: Fields }).schedule;
  const runsOf = async (id: string) => ((await send('GET', `/api/schedules/${id}/runs`)).body as { runs: Fields[] }).runs;
  const runNow = (id: string) => send('POST', `/api/schedules/${id}/run`);
  const isOver = ({ status }: Fields) => status !== 'pending' && status !== 'running';
  const endOfRun = async (id: string): Promise<Fields> => {
    let newest: Fields | undefined;
    await eventually(async () => ((newest = (await runsOf(id))[0]), newest !== undefined && isOver(newest)));
    return newest!;
  };
  /** What Alice's tabs were told of a schedule, once they know that it was resumed. */
  const toldOf = async (id: string) => {
    let told: readonly UserEvent[] = [];
    await eventually(async () => {
      const events: UserEvent[] = [];
      for await (const page of world.backing.store.read(userStream('alice'))) {
        events.push(...page.map(({ data }) => JSON.parse(data) as UserEvent));
      }
      told = events.filter(({ scope }) => scope.id === id);
      return told.at(-1)?.type === 'schedule.resumed';
    });
    return told;
  };
  const remove = (id: string) => send('DELETE', `/api/schedules/${id}`);

  describe('a schedule', () => {
    it('is shown as it was agreed on, with its next slot on the clocks of its zone', async () => {
      const reply = await createReply({ name: 'Year', tool_allowlist: ['t1'], token_budget: 500 });
      expect([reply.status, reply.headers.get('x-position')]).toEqual([201, expect.stringMatching(/^\d+$/)]);
      const { schedule } = reply.body as { schedule: Fields & { id: string } };
      const year = new Date().getUTCMonth() === 11 && new Date().getUTCDate() === 31 ? undefined : new Date().getUTCFullYear();
      expect(schedule).toEqual({
        id: expect.any(String),
        user_id: 'alice',
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
      expect((await send('GET', `/api/agents/${agentId}/schedules`)).body).toEqual({ schedules: [schedule] });
      expect((await send('GET', `/api/schedules/${schedule.id}`)).body).toEqual({ schedule });
      await remove(schedule.id);
    });

    it.each<[Fields, string]>([
      [{ instruction: ' ' }, 'instruction is required'],
      [{ trigger_type: 'monitor' }, "trigger_type must be 'recurring' or 'once'"],
      [{ cron: '*/5 * * * *' }, 'cadence below minimum interval (300s < 900s)'],
      [{ timezone: '+02:00' }, 'unknown timezone'],
      [{ end_at: '2020-01-01' }, 'end_at is before the first cron tick'],
      [{ token_budget: -1 }, 'token_budget must be a non-negative integer'],
    ])('with %j is refused, and takes no place', async (fields, message) => {
      const { status, body } = await createReply(fields);
      expect([status, body]).toEqual([400, { success: false, message }]);
    });

    it('is changed, paused and resumed by its owner', async () => {
      const { id } = await create();
      const put = await send('PUT', `/api/schedules/${id}`, { name: 'Noon', cron: '0 12 31 12 *', trigger_type: 'once' });
      expect(put.body).toMatchObject({ schedule: { name: 'Noon', cron: '0 12 31 12 *', trigger_type: 'recurring' } });
      expect((await send('PUT', `/api/schedules/${id}`, { run_at: '2030-01-01' })).status).toBe(400);
      expect((await send('PUT', `/api/schedules/${id}`, { instruction: '' })).status).toBe(400);
      const act = (action: string) => send('PATCH', `/api/schedules/${id}`, { action });
      expect((await act('pause')).body).toMatchObject({ schedule: { status: 'paused', next_run_at: null } });
      expect((await act('pause')).status).toBe(200);
      expect((await act('resume')).body).toMatchObject({ schedule: { status: 'active', next_run_at: expect.any(String) } });
      expect([(await act('stop')).status, (await act('stop')).body]).toEqual([
        400,
        { success: false, message: "action must be 'pause' or 'resume'" },
      ]);
      expect((await remove(id)).body).toEqual({ success: true });
      expect([(await remove(id)).status, (await remove(id)).body]).toEqual([404, NOT_FOUND]);
    });

    it('is nobody else’s business', async () => {
      const { id } = await create();
      const paths = [['GET', ''], ['PUT', ''], ['PATCH', ''], ['DELETE', ''], ['POST', '/run'], ['GET', '/runs'], ['GET', `/runs/${newId()}`]]; // prettier-ignore
      for (const [method, path] of paths) {
        const body = method === 'PUT' || method === 'PATCH' ? { action: 'pause' } : undefined;
        const strange = await send(method!, `/api/schedules/${id}${path}`, body, 'bob');
        expect([strange.status, strange.body]).toEqual([404, NOT_FOUND]);
        expect((await send(method!, `/api/schedules/${id}${path}`, body, 'nobody')).status).toBe(401);
        expect((await send(method!, `/api/schedules/7${path}`, body)).body).toEqual({
          success: false,
          message: 'invalid schedule id',
        });
      }
      for (const path of ['', '/stats']) {
        const strange = await send('GET', `/api/agents/${agentId}/schedules${path}`, undefined, 'bob');
        expect([strange.status, strange.body]).toEqual([404, { success: false, message: 'agent not found' }]);
      }
      await remove(id);
    });

    it('goes with its agent', async () => {
      const { id } = await create();
      expect((await send('DELETE', `/api/delete_agent?id=${agentId}`)).status).toBe(200);
      await eventually(async () => (await send('GET', `/api/schedules/${id}`)).status === 404);
    });

    it('is one of so many of its owner, however many are made at once', async () => {
      await world.service.restart({ SCHEDULE_MAX_PER_USER: String(SCHEDULES_MAX) });
      const { id: agent } = await world.agent({}, await world.as('carol'));
      const path = `/api/agents/${agent}/schedules`;
      const replies = await Promise.all(Array.from({ length: SCHEDULES_MAX + 4 }, () => send('POST', path, yearly, 'carol')));
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(SCHEDULES_MAX);
      const refused = replies.find(({ status }) => status !== 201)!;
      expect([refused.status, refused.body]).toEqual([429, { success: false, message: 'max schedules per user reached' }]);
      await world.service.restart();
    });
  });

  describe('a one-time schedule', () => {
    const soon = () => ({ trigger_type: 'once', cron: undefined, run_at: new Date(Date.now() + 1_500).toISOString() });

    it('runs once, at its time, says what came of it, and is over', async () => {
      world.model.next(say('All ', 'quiet.'));
      const { id, run_at: runAt } = await create(soon());
      const run = await endOfRun(id);
      expect(run).toEqual({
        id: expect.any(String),
        schedule_id: id,
        user_id: 'alice',
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
      expect(await scheduleOf(id)).toMatchObject({ status: 'completed', next_run_at: null, last_run_at: expect.any(String) });
      expect((await send('GET', `/api/schedules/${id}/runs/${String(run['id'])}`)).body).toEqual({ run });
      const terminal = { success: false, message: 'schedule is terminal' };
      expect((await send('PATCH', `/api/schedules/${id}`, { action: 'resume' })).body).toEqual(terminal);
      expect((await send('PUT', `/api/schedules/${id}`, { run_at: '2030-01-01' })).status).toBe(400);
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
      expect((await send('PUT', `/api/schedules/${id}`, { run_at: tomorrow })).status).toBe(409);
      expect((await runNow(id)).status).toBe(409);
      expect((await runsOf(id)).length).toBe(1);
    });

    it('whose time passes while nobody is there runs late', async () => {
      const { id } = await create(soon());
      await world.service.restart();
      expect(await endOfRun(id)).toMatchObject({ status: 'success', trigger_source: 'cron' });
    });

    it('that is paused over its time needs another', async () => {
      const { id, run_at: past } = await create(soon());
      const act = (body: Fields) => send('PATCH', `/api/schedules/${id}`, body);
      await act({ action: 'pause' });
      await eventually(() => Date.now() > Date.parse(past as string));
      const reply = await act({ action: 'resume' });
      expect(reply.status).toBe(409);
      expect(reply.body).toEqual({
        success: false,
        message: 'the once schedule has elapsed; recreate it or supply a new run_at',
      });
      expect((await act({ action: 'resume', run_at: '2020-01-01' })).status).toBe(409);
      const runAt = new Date(Date.now() + 3_600_000).toISOString();
      expect((await act({ action: 'resume', run_at: runAt })).body).toMatchObject({
        schedule: { status: 'active', run_at: runAt, next_run_at: runAt },
      });
      expect(await runsOf(id)).toEqual([]);
      await remove(id);
    });
  });

  describe('a run', () => {
    it('asked for now is one more, and never two at a time', async () => {
      const { id } = await create();
      world.model.next([wait(1_000), ...say('Done.')]);
      const first = await runNow(id);
      expect([first.status, first.body]).toMatchObject([202, { run: { status: 'pending', trigger_source: 'manual' } }]);
      const second = await runNow(id);
      expect([second.status, second.body]).toEqual([409, { success: false, message: 'a run is already in flight' }]);
      await eventually(async () => (await runsOf(id))[0]!['status'] === 'running');
      expect(await endOfRun(id)).toMatchObject({ status: 'success', output: 'Done.' });
      await remove(id);
    });

    it('that fails again and again pauses its schedule, which says how often it failed', async () => {
      world.model.always([refuse(400)]);
      const { id } = await create();
      for (const failures of [1, 2]) {
        await runNow(id);
        await eventually(async () => (await scheduleOf(id))['consecutive_failure_count'] === failures);
      }
      expect(await endOfRun(id)).toMatchObject({ status: 'failed', error_type: 'agent_error', error: expect.any(String) });
      expect(await scheduleOf(id)).toMatchObject({ status: 'paused', next_run_at: null });
      const { body } = await send('GET', `/api/agents/${agentId}/schedules/stats`);
      expect(body).toMatchObject({ days: 30, runs: 2, failed: 2, latest_failure: { status: 'failed' } });
      expect((await send('GET', `/api/agents/${agentId}/schedules/stats?days=366`)).status).toBe(400);
      const resumed = await send('PATCH', `/api/schedules/${id}`, { action: 'resume' });
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
      await remove(id);
    });

    it('that used more than its budget has failed', async () => {
      const { id } = await create({ token_budget: 0 });
      await runNow(id);
      expect(await endOfRun(id)).toMatchObject({ status: 'failed', error_type: 'budget_exceeded', output: expect.any(String) });
      await remove(id);
    });

    it('that takes too long is stopped', async () => {
      await world.service.restart({ SCHEDULE_RUN_TIMEOUT: '1' });
      const { id } = await create();
      world.model.next([hang]);
      await runNow(id);
      expect(await endOfRun(id)).toMatchObject({ status: 'timeout', error_type: 'timeout' });
      await remove(id);
      await world.service.restart();
    });

    it('may do beforehand what its schedule allows, and nothing else that needs approval', async () => {
      const action = { url: `${post.url}/drop`, method: 'POST', description: 'Drops', active: true, require_approval: true };
      const config = { actions: { drop: { name: 'drop', ...action } } };
      const tool = { name: 'api_tool', displayName: 'API', description: '-', status: true, config };
      const { id: toolId } = (await replyOf(world.alice.post('/api/create_tool', tool))).body as { id: string };
      const able = await world.agent({ tools: [toolId] });
      for (const [allowlist, requests] of [
        [[], 0],
        [[toolId], 1],
      ] as const) {
        const { id } = await create({ tool_allowlist: allowlist }, able.id);
        world.model.next([call('c1', 'drop', {})], say('Done.'));
        await runNow(id);
        expect(await endOfRun(id)).toMatchObject({ status: 'success', output: 'Done.' });
        expect(post.requests).toHaveLength(requests);
        await remove(id);
      }
    });

    it('is listed by the page', async () => {
      const { id } = await create();
      for (let index = 0; index < 3; index++) {
        await runNow(id);
        await endOfRun(id);
      }
      const page = (await send('GET', `/api/schedules/${id}/runs?limit=2&offset=1`)).body as { runs: Fields[] };
      expect(page).toMatchObject({ limit: 2, offset: 1 });
      expect(page.runs.map((run) => run['id'])).toEqual((await runsOf(id)).slice(1).map((run) => run['id']));
      expect((await send('GET', `/api/schedules/${id}/runs?limit=201`)).status).toBe(400);
      expect((await send('GET', `/api/schedules/${id}/runs/${newId()}`)).body).toEqual({
        success: false,
        message: 'run not found',
      });
      await remove(id);
    });
  });
}
