import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jobIdOf } from '../../src/background/jobs/job.policy.js';
import { jobStream } from '../../src/background/jobs/job.events.js';
import { askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { type Client, conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, say } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';
import { expiredFollowUpsStream } from '../../src/background/follow-ups/expired-follow-ups.events.js';
import { followUpsStream } from '../../src/background/follow-ups/follow-ups.events.js';

const RETENTION_SECONDS = 8;
const RETENTION = { BACKGROUND_RESULT_RETENTION_DAYS: String(RETENTION_SECONDS / 86_400) };
const SETTINGS = {
  BACKGROUND_YIELD_SECONDS: '0.3',
  RETENTION_EVERY_SECONDS: '0.2',
};
const SECRET = 'The secret of the job.';

type Fields = Record<string, unknown>;
type Query = { response: string; metadata?: Fields };

/**
 * Background jobs and follow-ups of monitors after their retention period: what is deleted, what remains, and who can see that.
 */
export function purgedBackgroundStory(makeBacking: MakeBacking): void {
  let world: World;
  let alice: Client;
  let auditor: Client;
  let outside: LocalServer;
  let agentId: string;
  let price = '95.10';
  const open: ServerResponse[] = [];

  beforeAll(async () => {
    outside = await LocalServer.started(({ path }, response) => {
      if (path === '/price') response.writeHead(200, { 'content-type': 'text/plain' }).end(price);
      else open.push(response);
    });
    world = await openWorld({ ...SETTINGS, ALLOWED_PRIVATE_HOSTS: outside.host }, makeBacking);
    alice = world.alice;
    auditor = await world.as('auditor', { roles: ['admin'] });
    const build = { name: 'build', method: 'POST', url: `${outside.url}/build`, description: 'Builds', active: true };
    const tool = {
      name: 'api_tool',
      displayName: 'Reports',
      description: 'Builds',
      config: { actions: { build } },
      status: true,
    };
    const { id } = (await (await alice.post('/api/create_tool', tool)).json()) as { id: string };
    agentId = (await world.agent({ tools: [id] })).id;
  });
  afterAll(async () => {
    await world.close();
    await outside.close();
  });
  beforeEach(() => {
    world.model.reset();
    open.length = 0;
  });

  const queries = async (id: string) => (await alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${id}`)).queries;
  const history = async (kind: string) => (await alice.json<{ runs: Fields[] }>(`/api/activity/history?kind=${kind}`)).runs;
  const audited = async (stream: string) =>
    (await auditor.json<{ events: Fields[] }>(`/api/audit/events?stream=${stream}`)).events;
  const begin = async () => {
    const jobs = open.length;
    world.model.next([call('c1', 'build', {})], say('It is being built.'));
    const asked = await askOver('/stream', alice, { question: 'Build it.', agent_id: agentId, visibility: 'listed' });
    const jobId = jobIdOf(asked.messageId!, 'c1');
    await eventually(async () => (await alice.get(`/api/background_jobs/${jobId}`)).status === 200 && open.length === jobs + 1);
    return { jobId, conversationId: asked.conversationId };
  };

  describe('a background job', () => {
    it('is shown until its retention ends and then unknown, and a running one does not expire', async () => {
      const { jobId, conversationId } = await begin();
      const begun = Date.now();
      world.model.next(say('There it is.'));
      answerJson(open[0]!, { found: SECRET });
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'There it is.');
      await world.service.restart(RETENTION);
      const underWay = await begin();
      const underWaySince = Date.now();
      await eventually(async () => (await alice.get(`/api/background_jobs/${jobId}`)).status === 404);
      expect(Date.now() - begun).toBeGreaterThanOrEqual(RETENTION_SECONDS * 1000);
      expect(await alice.json(`/api/background_jobs?conversation_id=${conversationId}`)).toEqual({ jobs: [] });
      expect((await history('job')).map((run) => JSON.stringify(run)).join()).not.toContain(jobId);
      await eventually(async () => (await audited(jobStream(jobId))).map(({ type }) => type).join() === 'JobPurged');
      expect(JSON.stringify(await audited(jobStream(jobId)))).not.toContain(SECRET);

      world.model.next([call('c2', 'check_job', { job_id: jobId })], say('It is gone.'));
      await askOver('/stream', alice, { question: 'And?', agent_id: agentId, conversation_id: conversationId });
      const told = world.model.completions.at(-1)!.body.messages.findLast(({ role }) => role === 'tool');
      expect(told!.content).toContain('There is no such job in this conversation.');
      expect((await queries(conversationId))[1]!.metadata).toMatchObject({ wake: { source: 'job', ref_id: jobId } });

      await eventually(() => Date.now() - underWaySince > RETENTION_SECONDS * 1000);
      expect(await alice.json(`/api/background_jobs/${underWay.jobId}`)).toMatchObject({ status: 'working' });
      answerJson(open[1]!, {});
      await eventually(async () => (await alice.get(`/api/background_jobs/${underWay.jobId}`)).status === 404);
    });
  });

  describe('a follow-up of a monitor', () => {
    it('is in the history until its retention ends, while the chat’s turn and the monitor remain', async () => {
      await world.service.restart();
      const definition = {
        description: 'It gets cheap',
        source: { type: 'webpage', url: `${outside.url}/price` },
        check: { type: 'threshold', op: '<', value: 90 },
      };
      world.model.next([call('m1', 'monitor_create', definition)], say('Done.'));
      const conversationId = conversationIdIn(await alice.stream({ question: 'Watch it.', visibility: 'listed' }));
      const monitors = async () => (await alice.json<{ monitors: Fields[] }>('/api/monitors')).monitors;
      await eventually(async () => (await monitors()).length === 1);
      const [monitor] = await monitors();
      const path = `/api/monitors/${String(monitor!['monitor_id'])}`;
      price = '89.50';
      world.model.next(say('It is cheap now.'));
      for (const action of ['pause', 'resume']) await replyOf(alice.post(`${path}/${action}`, {}));
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'It is cheap now.');
      await eventually(async () => (await history('monitor')).length === 1);
      await world.service.restart(RETENTION);
      await eventually(async () => (await history('monitor')).length === 0);
      const expired = expiredFollowUpsStream(conversationId);
      await eventually(async () => (await audited(expired)).map(({ type }) => type).join() === 'FollowUpsExpired');
      await eventually(async () => (await audited(followUpsStream(conversationId))).length === 0);
      expect((await queries(conversationId))[1]).toMatchObject({
        response: 'It is cheap now.',
        metadata: { wake: { source: 'monitor' } },
      });
      expect(await alice.json(path)).toMatchObject({ monitor: { status: 'completed', wake_count: 1 } });
    });
  });
}
