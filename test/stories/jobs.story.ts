import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jobStream } from '../../src/background/jobs/job.events.js';
import { jobIdOf } from '../../src/background/jobs/job.policy.js';
import { decodeCause } from '../../src/kernel/event-sourcing/codec.js';
import { newId } from '../../src/kernel/ids.js';
import { askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { mcpServerForTests } from '../support/mcp-server.js';
import { call, say, wait } from '../support/scripted-model-server.js';
import { TabForTests } from '../support/tab.js';
import { eventsOf } from '../support/turns.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Job = Readonly<Record<string, unknown> & { job_id: string; status: string }>;
type Query = Readonly<{
  prompt: string;
  response: string;
  metadata?: Record<string, unknown>;
  tool_calls: Record<string, unknown>[];
}>;

/** Tool calls that continue in the background: what the model, the owner and their tabs get, and how the jobs end. */
export function jobsStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let agentId: string;
  let question: string;
  let tab: TabForTests;
  /** The responses to requests that are not answered yet. */
  const open: ServerResponse[] = [];
  let cutOff = 0;

  beforeAll(async () => {
    post = await LocalServer.started();
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', BACKGROUND_YIELD_SECONDS: '0.3', BACKGROUND_STALE_SECONDS: '15' };
    world = await openWorld(settings, makeBacking);
    const action = (name: string) => ({ name, method: 'POST', url: `${post.url}/${name}`, description: name, active: true });
    const tool = {
      name: 'api_tool',
      displayName: 'Reports',
      description: 'Builds reports',
      config: { actions: { build: action('build'), build_too: action('build_too') } },
      status: true,
    };
    const { id } = (await (await world.alice.post('/api/create_tool', tool)).json()) as { id: string };
    agentId = (await world.agent({ tools: [id] })).id;
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(async () => {
    open.length = 0;
    cutOff = 0;
    post.requests.length = 0;
    post.answer = (_request, response) => {
      open.push(response);
      response.on('close', () => (cutOff += response.writableEnded ? 0 : 1));
    };
    world.model.reset();
    // Conversations of earlier tests may continue at any time, and must not use the scripts of this one.
    question = `Build it: ${newId()}`;
    world.model.meantFor = question;
    tab = await TabForTests.open(world.alice);
  });
  afterEach(() => tab.close());

  const ask = (more = '', fields: object = {}) =>
    askOver('/stream', world.alice, { question: `${question} ${more}`, agent_id: agentId, visibility: 'listed', ...fields });
  const jobs = async (conversationId: string, client = world.alice) =>
    (await client.json<{ jobs: Job[] }>(`/api/background_jobs?conversation_id=${conversationId}`)).jobs;
  const job = (id: string) => world.alice.json<Job>(`/api/background_jobs/${id}`);
  const cancel = (id: string, client = world.alice) => replyOf(client.post(`/api/background_jobs/${id}/cancel`, {}));
  const queries = async (conversationId: string) =>
    (await world.alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${conversationId}`)).queries;
  const told = () => world.model.completions.at(-1)!.body.messages.filter(({ role }) => role === 'tool');
  const toldOf = (jobId: string) =>
    tab.events
      .filter(({ type, payload }) => type === 'job.updated' && payload['job_id'] === jobId)
      .map(({ payload }) => payload['status']);
  const markOf = async (id: string) =>
    (await world.alice.json<{ id: string; mark: string | null }[]>('/api/get_conversations')).find((each) => each.id === id)
      ?.mark;
  const until = async (id: string, status: string) =>
    eventually(async () => (await job(id)).status === status, undefined, `job ${status}`);

  /** A conversation with a running job. */
  async function begun() {
    world.model.next([...say('One moment. '), call('c1', 'build', {})], say('It is being built.'));
    const asked = await ask();
    const jobId = jobIdOf(asked.messageId!, 'c1');
    await eventually(async () => (await jobs(asked.conversationId)).length === 1 && open.length === 1);
    return { asked, jobId, conversationId: asked.conversationId };
  }

  describe('a slow call', () => {
    it('continues while the answer does, and its result continues the conversation', async () => {
      const { asked, jobId, conversationId } = await begun();
      expect(asked.answer).toBe('One moment. It is being built.');
      const [{ result, ...shown } = { result: null }] = asked.toolCalls;
      expect(shown).toMatchObject({ call_id: 'c1', status: 'completed' });
      expect(JSON.parse(result!)).toMatchObject({ status: 'running', job_id: jobId, started_as: 'background' });
      expect(JSON.parse(told()[0]!.content as string)).toMatchObject({ status: 'running', job_id: jobId });
      expect(await jobs(conversationId)).toEqual([
        {
          job_id: jobId,
          conversation_id: conversationId,
          tool_name: 'api_tool',
          action_name: 'build',
          status: 'working',
          status_message: 'The job is still running.',
          progress: {},
          output_tail: null,
          elapsed_s: expect.any(Number),
          started_at: expect.any(String),
          finished_at: null,
          delivery_state: 'pending',
          auto_resume: true,
          cancel_requested: false,
        },
      ]);
      await eventually(async () => (await markOf(conversationId)) === 'running');
      world.model.next(say('The report has 7 rows.'));
      answerJson(open[0]!, { rows: 7 });
      await until(jobId, 'completed');
      expect(await job(jobId)).toMatchObject({ error: null, artifacts: [], note: 'The job is done.' });
      expect(JSON.stringify((await job(jobId))['result'])).toContain('"rows":7');
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'The report has 7 rows.');
      const { metadata } = (await queries(conversationId)).at(-1)!;
      expect(metadata).toMatchObject({ wake: { source: 'job', ref_id: jobId } });
      expect(JSON.stringify(world.model.completions.at(-1)!.body.messages.at(-1))).toContain('rows');
      await eventually(async () => (await job(jobId))['delivery_state'] === 'delivered');
      await eventually(() => toldOf(jobId).length === 2);
      expect(toldOf(jobId)).toEqual(['working', 'completed']);
      expect(post.requests).toHaveLength(1);
    });

    it('leads to no follow-up if the model has read its result', async () => {
      const { jobId, conversationId } = await begun();
      const status = () => JSON.parse(told().at(-1)!.content as string) as Job;
      // The model asks until the job has ended, which it does after the first "working".
      world.model.always(({ messages }) => {
        const last = JSON.stringify(messages.at(-1));
        if (last.includes('completed')) return say('There it is.');
        if (last.includes('working') && !open[0]!.writableEnded) answerJson(open[0]!, { rows: 7 });
        return [wait(50), call(newId(), 'check_job', { job_id: jobId })];
      });
      const asked = await ask('Is it there?', { conversation_id: conversationId });
      expect(asked.answer).toBe('There it is.');
      expect(status()).toMatchObject({ job_id: jobId, status: 'completed', action: 'build', note: 'The job is done.' });
      await eventually(async () => (await job(jobId))['delivery_state'] === 'seen');
      expect(await queries(conversationId)).toHaveLength(2);
    });

    it('shows a spinner at its chat until it ends, and a red dot after a failure until the chat is opened', async () => {
      const { jobId, conversationId } = await begun();
      await world.alice.post(`/api/conversations/${conversationId}/read`, {});
      await eventually(async () => (await markOf(conversationId)) === 'running');
      world.model.next(say('It went wrong.'));
      open[0]!.destroy();
      await until(jobId, 'failed');
      expect(await job(jobId)).toMatchObject({ result: null, error: expect.any(String), delivery_state: expect.any(String) });
      expect((await job(jobId))['note']).toMatch(/^The job failed\. How far it came/);
      await eventually(async () => (await markOf(conversationId)) === 'failed');
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'It went wrong.');
      // Reading the whole conversation opens it. A turn that arrived after the opening takes another one.
      await queries(conversationId);
      await eventually(async () => (await markOf(conversationId)) === null);
      await eventually(() => toldOf(jobId).length === 2);
      expect(toldOf(jobId)).toEqual(['working', 'failed']);
    });

    it('reports its progress if its tool does', async () => {
      const server = await mcpServerForTests();
      const config = { server_url: server.url, auth_type: 'none' };
      const made = await world.alice.post('/api/mcp_server/save', { displayName: 'Steps', config, status: true });
      const { id: toolId } = (await made.json()) as { id: string };
      const { id } = await world.agent({ tools: [toolId] });
      world.model.next([call('c1', 'tells', {})], say('It is under way.'));
      const asked = await ask('Do it.', { agent_id: id });
      const jobId = jobIdOf(asked.messageId!, 'c1');
      const [first, second] = ['Step 1 as null.', 'Step 2 as null.'];
      const told = { progress: { progress: 2, total: 3, message: second }, output_tail: `${first}\n${second}` };
      await eventually(async () => (await job(jobId))['output_tail'] === told.output_tail);
      expect(await job(jobId)).toMatchObject({ status: 'working', ...told });
      expect((await jobs(asked.conversationId))[0]).toMatchObject(told);
      world.model.next([call('c2', 'check_job', { job_id: jobId })], say('Two of three.'));
      await ask('How far?', { agent_id: id, conversation_id: asked.conversationId });
      const report = world.model.completions.at(-1)!.body.messages.findLast(({ role }) => role === 'tool');
      expect(JSON.parse(report!.content as string)).toMatchObject({ status: 'working', ...told });
      await cancel(jobId);
      await until(jobId, 'cancelled');
      expect(await job(jobId)).toMatchObject(told);
      await server.close();
    });

    it('does not exist in another conversation or for another user', async () => {
      const { jobId, conversationId } = await begun();
      world.model.next([call('c2', 'check_job', { job_id: jobId })], say('No.'));
      await ask('What of it?');
      expect(told().at(-1)!.content).toContain('There is no such job in this conversation.');
      expect(await jobs(conversationId, world.bob)).toEqual([]);
      expect((await replyOf(world.bob.get(`/api/background_jobs/${jobId}`))).status).toBe(404);
      expect((await cancel(jobId, world.bob)).status).toBe(404);
      answerJson(open[0]!, {});
      await until(jobId, 'completed');
    });
  });

  describe('a cancelled job', () => {
    it('ends its request, ends as cancelled, and requests no follow-up', async () => {
      const { jobId, conversationId } = await begun();
      const { status, body } = await cancel(jobId);
      expect([status, body]).toMatchObject([200, { job_id: jobId, cancel_requested: true }]);
      await until(jobId, 'cancelled');
      await eventually(() => cutOff === 1);
      expect(await job(jobId)).toMatchObject({ result: null, delivery_state: 'suppressed', finished_at: expect.any(String) });
      expect((await job(jobId))['note']).toContain('not known');
      expect((await cancel(jobId)).body).toMatchObject({ status: 'cancelled' });
      expect(await queries(conversationId)).toHaveLength(1);
    });

    it('is cancelled and removed with its conversation', async () => {
      const { jobId, conversationId } = await begun();
      expect((await world.alice.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
      await eventually(() => cutOff === 1);
      await eventually(async () => (await replyOf(world.alice.get(`/api/background_jobs/${jobId}`))).status === 404);
    });
  });

  describe('a process that ends', () => {
    it('records its jobs as lost, their conversations continue, and the calls are not repeated', async () => {
      const { jobId, conversationId } = await begun();
      world.model.next(say('I do not know what came of it.'));
      await world.service.restart();
      // The read model may lag after a start. The process that ended has recorded the loss, not its successor.
      await until(jobId, 'lost');
      expect(await job(jobId)).toMatchObject({ note: expect.stringContaining('not repeated') });
      const stated = await eventsOf(world.service.backing.store, jobStream(jobId));
      expect(stated.filter(({ type }) => type === 'JobLost').map(({ metadata }) => decodeCause(metadata).actor)).toEqual([
        'system:jobs',
      ]);
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'I do not know what came of it.');
      expect(await queries(conversationId)).toHaveLength(2);
      expect((await queries(conversationId)).at(-1)!.metadata).toMatchObject({ wake: { source: 'lost', ref_id: jobId } });
      expect(post.requests).toHaveLength(1);
    });
  });

  describe('calls beyond the maximum number of jobs', () => {
    it('are awaited', async () => {
      world.model.next([call('c1', 'build', {}), call('c2', 'build', {}), call('c3', 'build_too', {})], say('Done.'));
      const asking = ask();
      await eventually(() => post.requests.length === 3);
      const last = post.requests.findIndex(({ path }) => path === '/build_too');
      answerJson(open[last]!, { last: true });
      const { toolCalls, conversationId } = await asking;
      expect(toolCalls.map(({ result }) => JSON.stringify(result).includes('running'))).toEqual([true, true, false]);
      for (const response of open.filter((_, index) => index !== last)) answerJson(response, {});
      await eventually(async () => (await jobs(conversationId)).filter(({ status }) => status === 'completed').length === 2);
      expect(await jobs(conversationId)).toHaveLength(2);
    });
  });

  it('is read with a session, for one conversation', async () => {
    const message = (reply: { body: unknown }) => (reply.body as { message: string }).message;
    expect((await replyOf(world.nobody.get('/api/background_jobs?conversation_id=x'))).status).toBe(401);
    const without = await replyOf(world.alice.get('/api/background_jobs'));
    expect([without.status, message(without)]).toEqual([400, 'conversation_id is required']);
    for (const id of [newId(), 'nothing']) {
      const unknown = await replyOf(world.alice.get(`/api/background_jobs/${id}`));
      expect([unknown.status, message(unknown)]).toEqual([404, 'Job not found']);
      expect((await cancel(id)).status).toBe(404);
    }
    expect(await jobs(newId())).toEqual([]);
  });
}
