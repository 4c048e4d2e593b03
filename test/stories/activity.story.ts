import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { type JobStarted, jobStream } from '../../src/background/jobs/job.events.js';
import { runIdOf } from '../../src/triggers/schedules/schedule/schedule.events.js';
import {
  type Fields,
  DAY_MS,
  given,
  history,
  HOUR_MS,
  iso,
  MINUTE_MS,
  now,
  planned,
  ran,
  scheduledAgentOf,
  scheduleOf,
  somebody,
  YEARLY,
} from '../support/activity.js';
import { append } from '../support/accounts.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { askAndLeave } from '../support/left-answers.js';
import { call, cut, hang } from '../support/scripted-model-server.js';
import { taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

/** The activity pages: who may read them, and their content: what runs, waits for the user, comes next and has failed. */
export function activityStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, {}));
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SCHEDULE_AUTOPAUSE_FAILURES: '1' }, makeBacking);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });

  describe('access', () => {
    it.each(['now', 'planned', 'history'])('%s needs a session', async (route) => {
      expect((await world.nobody.get(`/api/activity/${route}`)).status).toBe(401);
      const { key } = await world.agent();
      const keyed = await world.nobody.get(`/api/activity/${route}?api_key=${key}`);
      expect(keyed.status).toBe(401);
    });

    it('shows empty lists to a user without data', async () => {
      const { client } = await somebody(world);
      expect(await planned(client)).toEqual({ events: [], monitors: [], truncated: [] });
      expect(await history(client)).toEqual({ runs: [], has_more: false });
      const none = { runs: 0, failed: 0 };
      expect(await now(client)).toEqual({
        running: [],
        needs_attention: { approvals: [], paused_schedules: [] },
        up_next: [],
        counts: { ...none, by_kind: { schedule: none, webhook: none, workflow: none, job: none, monitor: none } },
        conversations: [],
      });
    });
  });

  describe('now', () => {
    it('shows running answers and runs of schedules and webhooks until they end', async () => {
      const { name, client } = await somebody(world);
      const agent = await world.agent({ name: 'Guide' }, client);
      world.model.always([hang]);
      const asking = client.post('/api/answer', { question: 'Why?', agent_id: agent.id }).catch(() => undefined);
      const hook = await webhookPath(client, agent.id);
      const taskId = await taskOf(world.nobody.post(hook, '{}'));
      const schedule = { instruction: 'Sum up.', cron: '0 0 31 12 *', name: 'Yearly' };
      const made = await replyOf(client.post(`/api/agents/${agent.id}/schedules`, schedule));
      const { id: scheduleId } = (made.body as { schedule: { id: string } }).schedule;
      await client.post(`/api/schedules/${scheduleId}/run`, {});
      let running: Fields[] = [];
      const isAllRunning = () => running.length === 3 && running.every(({ status }) => status === 'running');
      await eventually(async () => ((running = (await now(client)).running), isAllRunning()));
      const common = { status: 'running', since: expect.any(String), started_at: expect.any(String), agent_id: agent.id };
      const by: Record<string, Fields> = Object.fromEntries(running.map((each) => [each['kind'] as string, each]));
      expect(by['answer']).toMatchObject({ ...common, title: expect.any(String), message_id: by['answer']!['id'] });
      expect(by['answer']!['conversation_id']).toEqual(expect.any(String));
      expect(by['webhook']).toMatchObject({ ...common, title: 'Guide', task_id: taskId, run_id: taskId, id: taskId });
      expect(by['schedule']).toMatchObject({
        ...common,
        title: 'Yearly',
        schedule_id: scheduleId,
        run_id: by['schedule']!['id'],
      });
      const chat = by['answer']!['conversation_id'] as string;
      const jobId = await jobIn(chat, await world.idOf(name));
      await eventually(async () => (await now(client)).running.some(({ kind }) => kind === 'job'));
      expect((await now(client)).running.find(({ kind }) => kind === 'job')).toEqual({
        ...common,
        kind: 'job',
        id: jobId,
        job_id: jobId,
        title: 'api_tool: dig',
        agent_id: null,
        conversation_id: chat,
      });
      expect((await now(await world.as('a-stranger'))).running).toEqual([]);
      expect((await now(client)).up_next).toEqual([
        { kind: 'schedule', at: expect.any(String), title: 'Yearly', schedule_id: scheduleId, agent_id: agent.id },
      ]);
      await client.post(`/api/messages/${String(by['answer']!['id'])}/cancel`, {});
      await asking;
      await eventually(async () => !(await now(client)).running.some(({ kind }) => kind === 'answer'));
      world.model.reset();
    });

    async function jobIn(conversationId: string, ownerId: string): Promise<string> {
      const jobId = newId();
      const call = { turnId: 'turn', callId: 'c1', agentId: null, toolId: 'tool', toolName: 'api_tool', actionName: 'dig' };
      const times = { begunAt: iso(Date.now()), deadlineAt: iso(Date.now() + HOUR_MS) };
      const more = { arguments: {}, hasEffects: false, runner: 'nobody', autoResume: false };
      const data: JobStarted['data'] = { jobId, conversationId, ownerId, ...call, ...more, ...times };
      await append(world.backing.store, jobStream(jobId), { type: 'JobStarted', data });
      return jobId;
    }

    it('shows pending approvals, and chats that wait or failed, until the user opens them', async () => {
      const { client } = await somebody(world);
      const action = { name: 'send', method: 'POST', url: `${post.url}/send`, description: 'Sends', active: true };
      const config = { actions: { send: { ...action, require_approval: true } } };
      const tool = { name: 'api_tool', displayName: 'Cards', description: 'Sends', config, status: true };
      const { id: toolId } = (await (await client.post('/api/create_tool', tool)).json()) as { id: string };
      const agent = await world.agent({ tools: [toolId] }, client);
      const ask = async () => {
        const reply = await replyOf(client.post('/api/answer', { question: 'Send?', agent_id: agent.id, visibility: 'listed' }));
        return (reply.body as { conversation_id: string }).conversation_id;
      };
      world.model.next([call('c1', 'send', { to: 'bob' })]);
      const waiting = await ask();
      const asked = Date.now();
      await eventually(async () => (await now(client)).needs_attention.approvals.length === 1);
      const seen = await now(client);
      const [approval] = seen.needs_attention.approvals;
      expect(approval).toEqual({
        conversation_id: waiting,
        message_id: expect.any(String),
        agent_id: agent.id,
        title: expect.any(String),
        calls: [{ call_id: 'c1', tool_name: 'api_tool', action_name: 'send', arguments: expect.any(Object) }],
        created_at: expect.any(String),
        expires_at: expect.any(String),
      });
      const left = Date.parse(approval!['expires_at'] as string) - asked;
      expect(left).toBeGreaterThan(29 * MINUTE_MS);
      expect(left).toBeLessThan(31 * MINUTE_MS);
      const chat = { name: expect.any(String), agent_id: agent.id, date: expect.any(String) };
      expect(seen.conversations).toEqual([{ ...chat, conversation_id: waiting, mark: 'approval' }]);
      await askAndLeave(world, client, { question: 'Send?', agent_id: agent.id }, [cut]);
      await eventually(async () => (await now(client)).conversations.length === 2);
      const chats = (await now(client)).conversations;
      expect(chats.map(({ mark }) => mark)).toEqual(['failed', 'approval']);
      await client.get(`/api/get_single_conversation?id=${String(chats[0]!['conversation_id'])}`);
      world.model.reset();
    });

    it('shows paused schedules, first those that paused themselves, and counts the last day', async () => {
      const { name, client } = await somebody(world);
      const hour = Date.now() - HOUR_MS;
      const byOwner = await scheduleOf(world, name, YEARLY, hour, 'Mine');
      await given(world, byOwner, { type: 'SchedulePaused', data: { scheduleId: byOwner, pausedAt: iso(hour) } });
      const itself = await scheduleOf(world, name, YEARLY, hour - 2 * DAY_MS, 'Itself');
      const runId = runIdOf(itself, iso(hour));
      const paused = { scheduleId: itself, runId, failuresInARow: 3, pausedAt: iso(hour) };
      await given(world, itself, ...ran(itself, hour - 2 * DAY_MS, 'failed'), ...ran(itself, hour - 1000, 'success'));
      await given(world, itself, ...ran(itself, hour, 'failed').slice(0, 1));
      const end = { scheduleId: itself, runId, status: 'failed', errorType: 'agent_error', failuresInARow: 3 } as const;
      await given(world, itself, { type: 'ScheduleRunEnded', data: { ...end, endedAt: iso(hour) } });
      await given(world, itself, { type: 'ScheduleAutoPaused', data: paused });
      await eventually(async () => (await now(client)).needs_attention.paused_schedules.length === 2);
      const { needs_attention: attention, counts, up_next: next } = await now(client);
      const common = { agent_id: await scheduledAgentOf(world) };
      expect(attention.paused_schedules).toEqual([
        {
          ...common,
          schedule_id: itself,
          name: 'Itself',
          auto_paused: true,
          consecutive_failure_count: 3,
          last_run_at: iso(hour),
        },
        { ...common, schedule_id: byOwner, name: 'Mine', auto_paused: false, consecutive_failure_count: 0, last_run_at: null },
      ]);
      expect(next).toEqual([]);
      expect(counts).toMatchObject({ runs: 2, failed: 1, by_kind: { schedule: { runs: 2, failed: 1 } } });
      await client.patch(`/api/schedules/${itself}`, { action: 'resume' });
      expect((await now(client)).needs_attention.paused_schedules.map(({ name: each }) => each)).toEqual(['Mine']);
    });
  });
}
