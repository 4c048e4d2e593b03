import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { workflowRunIdOf } from '../../src/dialogue/answering/workflow-runs/run/workflow-run.events.js';
import type { MakeBacking } from '../support/backing.js';
import { recordsIn, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { KILLS } from '../support/kills.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { call, type CompletionRequest, hang, say, type Step, wait } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TurnLog } from '../support/turn-log.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { chain, node } from '../support/workflow-graphs.js';

const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
/** The number of kills for each of the three ways to run a workflow. */
const KILLS_EACH = Math.ceil(KILLS / 2);
/** About the duration of an answer. */
const KILLED_WITHIN_MS = 350;
const AGENTS = ['first', 'send', 'last'];
const ENDED_MS_MAX = 60_000;

type RunRecord = Readonly<{
  status: string;
  reason: string | null;
  steps: readonly Readonly<{
    node_id: string;
    status: string;
    attempts: number;
    tool_calls: readonly Readonly<{ status: string }>[];
  }>[];
}>;

/** The node that a model request belongs to, from the node's prompt. */
const nodeOf = ({ messages }: CompletionRequest): string =>
  /Do (\w+)/.exec(JSON.stringify(messages.findLast(({ role }) => role === 'user')!.content))?.[1] ?? 'none';
const isFirstRound = ({ messages }: CompletionRequest) => !messages.some(({ role }) => role === 'tool');

/** A process is killed while it runs a workflow of five nodes: no completed step is repeated, and the record is correct. */
export function workflowsFaultStory(makeBacking: MakeBacking): void {
  let running: ScriptedProcess;
  let post: LocalServer;
  let log: TurnLog;
  let toolId: string;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { posted: true }));
    running = await startScriptedProcess(
      { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', TITLE_MODEL_ID: 'none' },
      { backing: await makeBacking(), standbys: 1 },
    );
    log = new TurnLog(running.backing.store);
    const body = { type: 'object', properties: { text: { type: 'string', description: '', filled_by_llm: true } } };
    const send_card = {
      name: 'send_card',
      method: 'POST',
      url: `${post.url}/send_card`,
      description: 'Sends',
      active: true,
      body,
    };
    const tool = {
      name: 'api_tool',
      displayName: 'Cards',
      description: 'Sends',
      config: { actions: { send_card } },
      status: true,
    };
    toolId = (await created('create_tool', tool)).id;
  });
  afterAll(async () => {
    await running.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    running.model.reset();
    answersAsUsual();
  });

  const answersAsUsual = () =>
    running.model.always((request): readonly Step[] => {
      const name = nodeOf(request);
      return name === 'send' && isFirstRound(request)
        ? [wait(20), call('k1', 'send_card', { text: 'hi' })]
        : [wait(20), ...say(`${name} `), wait(10), ...say('done. ')];
    });

  const created = async (path: string, body: object) => {
    const response = await running.client.post(`/api/${path}`, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as { id: string; data: { id: string } };
  };
  const agentThat = async (stream_to_user: boolean) => {
    const agents = AGENTS.map((id) =>
      node('agent', id, { prompt_template: `Do ${id}`, stream_to_user, tools: id === 'send' ? [toolId] : [] }),
    );
    const graph = chain(node('start'), ...agents, node('end', 'end', { output_template: 'Bye.' }));
    const workflow = (await created('workflows', { name: 'Five', ...graph })).data.id;
    const agent = { name: 'Five', description: 'Steps', chunks: 4, retriever: 'classic', prompt_id: 'default' };
    return (await created('create_agent', { ...agent, agent_type: 'workflow', workflow, status: 'published' })).id;
  };
  const killed = async () => {
    await running.service.kill();
    answersAsUsual();
    await running.service.start();
  };
  const killedAfter = async (ms: number) => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    await killed();
  };
  /** Kills the process while the model of the first node has not answered yet: no text was sent, only frames of steps. */
  const killedBeforeText = async () => {
    await eventually(() => running.model.completions.length > 0);
    await killed();
  };
  const record = async (id: string) => {
    const response = await running.client.get(`/api/workflow_runs/${workflowRunIdOf(id)}`);
    return response.status === 200 ? ((await response.json()) as { data: RunRecord }).data : undefined;
  };
  const ended = async (id: string) => {
    let found: RunRecord | undefined;
    await eventually(
      async () => (found = await record(id)) !== undefined && found.status !== 'running',
      ENDED_MS_MAX,
      `the run of ${id} ends`,
    );
    return found!;
  };

  /** Compares the record with the requests to the model and the tool. */
  function expectTrue(run: RunRecord): void {
    for (const name of AGENTS) {
      const steps = run.steps.filter(({ node_id: id }) => id === name);
      const asked = running.model.completions.filter(({ body }) => nodeOf(body) === name && isFirstRound(body)).length;
      expect(steps.length).toBeLessThanOrEqual(1);
      expect(asked).toBeLessThanOrEqual(steps[0]?.attempts ?? 0);
    }
    // One kill interrupts at most one step. All others were made once.
    expect(run.steps.reduce((sum, { attempts }) => sum + attempts, 0)).toBeLessThanOrEqual(run.steps.length + 1);
    expect(post.requests.length).toBeLessThanOrEqual(1);
    const sent = run.steps.flatMap(({ tool_calls: calls }) => calls).some(({ status }) => status === 'completed');
    if (sent) expect(post.requests).toHaveLength(1);
    expect(new Set(run.steps.map(({ status }) => status))).toEqual(
      new Set(run.status === 'completed' ? ['completed'] : ['completed', 'failed']),
    );
    if (run.status === 'completed') expect(run.steps.map(({ node_id: id }) => id)).toEqual(['start', ...AGENTS, 'end']);
  }

  it.each([
    ['nodes that speak', true],
    ['silent nodes', false],
  ])(
    `a streamed run of %s ends once with a correct record, killed before its text and at ${KILLS_EACH} random moments (seed ${seed})`,
    async (_, streams) => {
      const random = new Seeded(seed);
      const agentId = await agentThat(streams);
      for (let kill = 0; kill <= KILLS_EACH; kill++) {
        post.requests.length = 0;
        running.model.requests.length = 0;
        // A run that has sent no text completes after the kill, so that not all runs end as failed, whatever the random moments.
        const isEarly = kill === 0;
        if (isEarly) running.model.always([hang]);
        let shown = '';
        let known: (id: string) => void;
        const messageId = new Promise<string>((resolve) => (known = resolve));
        const reading = running.client
          .post('/stream', { question: 'Go!', agent_id: agentId, visibility: 'listed' })
          .then((response) =>
            streamed(response, (text) => {
              shown = text;
              const found = /"message_id":"([^"]+)"/.exec(text)?.[1];
              if (found) known(found);
              return false;
            }),
          )
          .catch(() => undefined);
        const id = await messageId;
        await (isEarly ? killedBeforeText() : killedAfter(random.between(0, KILLED_WITHIN_MS)));
        await reading;
        await eventually(
          async () => (await log.refresh()).turns.get(id)?.seals.length === 1,
          ENDED_MS_MAX,
          `turn ${id} is sealed`,
        );
        const journal = await log.journalOf(id);
        expect(journal.startsWith(recordsIn(shown))).toBe(true);
        expect(journal.match(/"type":"end"/g)).toHaveLength(1);
        const frames = journal.split('\n').filter((line) => line.includes('"type":"workflow_step"'));
        expect(new Set(frames.map((line) => line.slice(line.indexOf('{')))).size).toBe(frames.length);
        const run = await ended(id);
        const isInterrupted = journal.includes('"code":"interrupted"');
        if (!isInterrupted) expect(run.status).toBe('completed');
        if (isEarly) expect(isInterrupted).toBe(false);
        // The output of a node that streams cannot be taken back. A silent node is run again.
        if (!streams) expect(isInterrupted).toBe(false);
        expectTrue(run);
      }
    },
    1_200_000,
  );

  it(`a headless run continues at the next attempt and completes, killed at ${KILLS_EACH} random moments (seed ${seed})`, async () => {
    const random = new Seeded(seed);
    const hook = await webhookPath(running.client, await agentThat(true));
    for (let kill = 0; kill < KILLS_EACH; kill++) {
      post.requests.length = 0;
      running.model.requests.length = 0;
      const taskId = await taskOf(running.client.post(hook, { go: kill }));
      await killedAfter(random.between(0, KILLED_WITHIN_MS));
      const { status, result } = await endOf(running.client, taskId, ENDED_MS_MAX);
      const run = await ended(taskId);
      expect([status, run.status]).toEqual(['SUCCESS', 'completed']);
      expect(result).toMatchObject({ status: 'success', result: { answer: 'first done. send done. last done. \n\nBye.' } });
      expectTrue(run);
    }
  }, 1_200_000);
}
