import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { HeadlessAnswering } from '../../src/dialogue/answering/runner/headless-answering.port.js';
import { Runs } from '../../src/background/runs/runs.port.js';
import { taskStream } from '../../src/work/tasks/task.events.js';
import { RETRIES_MAX } from '../../src/work/tasks/task.policy.js';
import { defaultToolId } from '../../src/resources/tools/defaults/default-tools.policy.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { broken, call, hang, refuse, say } from '../support/scripted-model-server.js';
import { endOf, statusOf, taskOf, webhookPath } from '../support/webhooks.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Answered = Readonly<{ result: Readonly<{ result: Readonly<{ sources: readonly unknown[] }> }> }>;

/** The runs of deliveries: headless answers with the rights of the agent's owner, and their results. */
export function webhookRunsStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let hook: string;

  beforeAll(async () => {
    post = await LocalServer.started();
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, makeBacking);
    hook = await webhookPath(world.alice, (await world.agent()).id);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    post.answer = (_request, response) => answerJson(response, { posted: true });
    world.model.reset();
  });

  const deliver = (body: string, path = hook) => world.nobody.post(path, body);
  const outcomeOf = async (body: string, path = hook) => endOf(world.nobody, await taskOf(deliver(body, path)));
  const sentToModel = () => world.model.completions.at(-1)!.body.messages;

  const tool = async (actions: Readonly<Record<string, object>>) => {
    const whole = Object.entries(actions).map(([name, action]) => [
      name,
      { name, url: `${post.url}/${name}`, method: 'POST', description: `Does ${name}`, active: true, ...action },
    ]);
    const body = { name: 'api_tool', displayName: 'API', description: '-', status: true };
    const config = { actions: Object.fromEntries(whole) as object };
    return ((await (await world.alice.post('/api/create_tool', { ...body, config })).json()) as { id: string }).id;
  };

  it('returns the sources of the answer', async () => {
    const form = new FormData();
    form.append('name', 'Guide');
    form.append('file', new Blob(['Tea is served at four.']), 'guide.txt');
    const uploaded = (await replyOf(world.alice.send('/api/upload', form))).body as { task_id: string; source_id: string };
    expect(await endOf(world.nobody, uploaded.task_id)).toMatchObject({ status: 'SUCCESS' });
    const reader = await world.agent({ source: uploaded.source_id });
    const { result } = (await outcomeOf('{"when": "is tea served"}', await webhookPath(world.alice, reader.id))) as Answered;
    const told = { text: 'Tea is served at four.', title: 'guide', source: 'Guide', filename: 'guide.txt' };
    expect(result.result.sources).toEqual([told]);
  });

  it('has no scheduler, unlike its owner in a chat with the same agent', async () => {
    const planner = await world.agent({ tools: [defaultToolId('scheduler')] });
    await world.alice.stream({ question: 'Hello?', agent_id: planner.id });
    const offered = () => world.model.completions.at(-1)!.body['tools'];
    expect(offered()).toHaveLength(3);
    await outcomeOf('{}', await webhookPath(world.alice, planner.id));
    expect(offered()).toBeUndefined();
  });

  it('has the owner’s rights, except that calls which require approval are denied', async () => {
    const id = await tool({ send: {}, drop: { require_approval: true } });
    const able = await world.agent({ tools: [id], config: { api_write_allowlist: [] } });
    world.model.next([...say('Let me see. '), call('c1', 'drop', {}), call('c2', 'send', {})], say('Sent.'));
    const { result } = (await outcomeOf('{}', await webhookPath(world.alice, able.id))) as Answered;
    const reason = "This tool requires approval and is not in the run's tool_allowlist.";
    expect(result.result).toEqual({
      answer: 'Let me see. Sent.',
      sources: [],
      thought: '',
      tool_calls: [
        {
          tool_name: 'api_tool',
          call_id: 'c1',
          action_name: 'drop',
          arguments: {},
          status: 'denied',
          error: reason,
          error_type: 'tool_not_allowed',
        },
        expect.objectContaining({ call_id: 'c2', status: 'completed' }),
      ],
    });
    const told = sentToModel().filter(({ role }) => role === 'tool');
    expect(told[0]!.content).toBe(`Tool denied (headless): ${reason}`);
    expect(post.requests.map(({ path }) => path)).toEqual(['/send']);
  });

  it('succeeds even if its model fails, with the text so far', async () => {
    world.model.always([refuse(400)]);
    expect(await outcomeOf('{}')).toMatchObject({
      status: 'SUCCESS',
      result: { status: 'success', result: { answer: '', sources: [], tool_calls: [], thought: '' } },
    });
    world.model.always([...say('Half of '), broken]);
    expect(await outcomeOf('{}')).toMatchObject({ status: 'SUCCESS', result: { result: { answer: 'Half of ' } } });
  });

  it('is retried three times after an internal error, from the start and with growing delays, and then fails', async () => {
    const headless = world.service.service.app.get(HeadlessAnswering, { strict: false });
    let attempts = 0;
    headless.answer = () => Promise.reject(new Error(`Attempt ${++attempts} broke.`));
    const taskId = await taskOf(deliver('{}'));
    await eventually(async () => (await statusOf(world.nobody, taskId)).status === 'RETRY');
    expect(await endOf(world.nobody, taskId, 100_000)).toEqual({ status: 'FAILURE', result: 'The task failed unexpectedly.' });
    await world.service.restart();
    expect(attempts).toBe(1 + RETRIES_MAX);
    const waits: number[] = [];
    for await (const page of world.backing.store.read(taskStream(taskId)))
      for (const { type, data, at } of page)
        if (type === 'TaskRetryScheduled') waits.push(Date.parse((JSON.parse(data) as { dueAt: string }).dueAt) - at.getTime());
    expect(waits).toHaveLength(RETRIES_MAX);
    expect(waits).toEqual([...waits].sort((one, other) => one - other));
  });

  it('does not start if the owner’s quota is used up', async () => {
    await world.service.restart({ QUOTA_TOKENS_PER_USER: '0' });
    expect(await outcomeOf('{}')).toEqual({
      status: 'SUCCESS',
      result: { status: 'quota_exceeded', error: expect.stringMatching(/./) },
    });
    expect(world.model.completions).toEqual([]);
    await world.service.restart();
  });

  it('returns a large result completely', async () => {
    const long = 'x'.repeat(200 * 1024);
    world.model.always(say(long));
    expect(await outcomeOf('{}')).toMatchObject({ status: 'SUCCESS', result: { result: { answer: long } } });
  });

  it('fails if its agent no longer exists', async () => {
    const gone = await world.agent();
    const runs = world.service.service.app.get(Runs, { strict: false });
    const runId = newId();
    await world.alice.delete(`/api/delete_agent?id=${gone.id}`);
    const cause = { actor: 'system:test', credential: 'system', correlationId: runId, causationId: runId } as const;
    await runs.queue({ runId, ownerId: await world.idOf('alice'), agentId: gone.id, trigger: 'webhook', input: '{}' }, cause);
    expect(await endOf(world.nobody, runId)).toEqual({ status: 'FAILURE', result: 'Agent not found' });
  });

  it('reports its progress, and is left to the next service when the current one stops', async () => {
    world.model.always([hang]);
    const taskId = await taskOf(deliver('{}'));
    await eventually(async () => (await statusOf(world.nobody, taskId)).status === 'PROGRESS');
    expect(await statusOf(world.nobody, taskId)).toEqual({ status: 'PROGRESS', result: { current: 50 } });
    world.model.always(say('At last.'));
    await world.service.restart();
    expect(await endOf(world.nobody, taskId)).toMatchObject({ status: 'SUCCESS', result: { result: { answer: 'At last.' } } });
  });
}
