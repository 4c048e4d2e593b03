import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jobIdOf } from '../../src/background/jobs/job.policy.js';
import { askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { LocalServer } from '../support/local-server.js';
import { call, say } from '../support/scripted-model-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';

type Query = Readonly<{ response: string; metadata?: Record<string, unknown> }>;

/**
 * A process is killed while a tool call runs as a job in it: the job is not shown as running for ever, and it is not run again.
 */
export function killedJobsStory(makeBacking: MakeBacking): void {
  let running: ScriptedProcess;
  let post: LocalServer;

  beforeAll(async () => {
    post = await LocalServer.started();
    post.answer = () => undefined;
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', TITLE_MODEL_ID: 'none' };
    const background = { BACKGROUND_YIELD_SECONDS: '0.3', BACKGROUND_STALE_SECONDS: '15' };
    running = await startScriptedProcess({ ...settings, ...background }, { backing: await makeBacking() });
  });
  afterAll(async () => {
    await running.close();
    await post.close();
  });

  const created = async (path: string, body: object) =>
    (await (await running.client.post(`/api/${path}`, body)).json()) as { id: string };

  it('a killed process marks its job as lost, and the conversation continues', async () => {
    const { client, model } = running;
    const build = { name: 'build', method: 'POST', url: `${post.url}/build`, description: 'Builds a report', active: true };
    const tool = {
      name: 'api_tool',
      displayName: 'Reports',
      description: 'Builds',
      config: { actions: { build } },
      status: true,
    };
    const { id } = await created('create_tool', tool);
    const agent = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: 'default', tools: [id] };
    const { id: agentId } = await created('create_agent', { ...agent, status: 'published' });
    model.next([call('c1', 'build', {})], say('It is being built.'), say('Nobody knows what came of it.'));
    const asked = await askOver('/stream', client, { question: 'Build it.', agent_id: agentId, visibility: 'listed' });
    const job = () => client.json<{ status: string }>(`/api/background_jobs/${jobIdOf(asked.messageId!, 'c1')}`);
    await eventually(async () => (await job()).status === 'working' && post.requests.length === 1);
    await running.service.kill();
    await running.service.start();
    await eventually(async () => (await job()).status === 'lost');
    const queries = async () =>
      (await client.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${asked.conversationId}`)).queries;
    await eventually(async () => (await queries()).at(-1)!.response === 'Nobody knows what came of it.');
    expect((await queries()).at(-1)!.metadata).toMatchObject({ wake: { source: 'lost' } });
    expect(post.requests).toHaveLength(1);
  });
}
