import { expect } from '@jest/globals';
import { agentFile } from '../support/agent-files.js';
import { askOver } from '../support/asked.js';
import { recordsIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { RESTARTED_MS_MAX } from '../support/process.js';
import { call, type CompletionRequest, say } from '../support/scripted-model-server.js';
import type { ScriptedProcess } from '../support/scripted-process.js';
import { TurnLog } from '../support/turn-log.js';
import { Viewer } from '../support/viewer.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';

/** Runs a flow from its first request to its end, and checks that end. Each run has its own number. */
export type Flow = (n: number) => Promise<void>;

export const NEEDED_SETTINGS = {
  ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  TITLE_MODEL_ID: 'none',
  BACKGROUND_YIELD_SECONDS: '0.3',
  BACKGROUND_STALE_SECONDS: '2',
};

type Calls = readonly Readonly<{ status?: unknown }>[];
type Jobs = readonly Readonly<{ status: string }>[];
type Queries = readonly Readonly<{ response: string }>[];

const SLOW = '/slow';

/**
 * Flows through a service that may be killed at any moment. Their clients repeat a request that was not answered, with the same
 * idempotency key.
 */
export class KilledFlows {
  private readonly log: TurnLog;
  /** The slow calls whose answers are held back, and the runs whose calls are answered at once from now on. */
  private readonly held = new Map<number, () => void>();
  private readonly released = new Set<number>();

  private constructor(
    private readonly running: ScriptedProcess,
    /** The tool that the agents call. It counts its calls. */
    private readonly counter: LocalServer,
  ) {
    this.log = new TurnLog(running.backing.store);
    running.model.always(counting);
    counter.answer = ({ path, body }, response) => {
      const answer = () => answerJson(response, { counted: true });
      const n = numberIn(body);
      if (path === SLOW && !this.released.has(n)) this.held.set(n, answer);
      else answer();
    };
  }

  static async over(running: ScriptedProcess): Promise<KilledFlows> {
    return new KilledFlows(running, await LocalServer.started());
  }

  close(): Promise<void> {
    return this.counter.close();
  }

  /** A delivery to a webhook starts a run, which calls a tool. */
  async delivery(): Promise<Flow> {
    const { client, backing } = this.running;
    const hook = await webhookPath(client, await this.agentThatCounts());
    return async (n) => {
      const deliver = () => insist(() => taskOf(client.post(hook, { n }, { 'idempotency-key': `delivery ${n}` })));
      const task = await deliver();
      const { status, result } = await insist(() => endOf(client, task, RESTARTED_MS_MAX));
      expect(status).toBe('SUCCESS');
      this.expectCountedOnce(n, (result as { result: { tool_calls: Calls } }).result.tool_calls);
      expect(await deliver()).toBe(task);
      const runs = await backing.database.sql<{ input: string }[]>`
        select data::json ->> 'input' as input from event_store.event where type = 'RunQueued'`;
      expect(runs.filter(({ input }) => numberIn(input) === n)).toHaveLength(1);
    };
  }

  /** A turn pauses until its tool call is approved, and resumes. */
  async approval(): Promise<Flow> {
    const agentId = await this.agentThatCounts({ require_approval: true });
    return async (n) => {
      const asked = await this.ask(n, agentId);
      if (!isInterrupted(asked)) {
        const { conversationId } = this.log.turns.get(asked.messageId!)!;
        const approval = { conversation_id: conversationId, tool_actions: [{ call_id: 'c1', decision: 'approved' }] };
        await insist(() => askOver('/stream', this.running.client, approval));
      }
      await this.expectOneTurn(n, asked);
    };
  }

  /** A tool call becomes a job. When the job has ended, the conversation continues with a follow-up. */
  async job(): Promise<Flow> {
    const agentId = await this.agentThatCounts({ url: this.counter.url + SLOW });
    return async (n) => {
      const asked = await this.ask(n, agentId);
      this.release(n);
      await this.expectOneTurn(n, asked);
      const { conversationId: id } = this.log.turns.get(asked.messageId!)!;
      const { client } = this.running;
      await eventually(async () => {
        const { jobs } = await client.json<{ jobs: Jobs }>(`/api/background_jobs?conversation_id=${id}`);
        const { queries } = await client.json<{ queries: Queries }>(`/api/get_single_conversation?id=${id}`);
        if (!isInterrupted(asked)) expect(jobs).toHaveLength(1);
        expect(jobs).toEqual(jobs.map(() => expect.objectContaining({ status: expect.stringMatching(/^(completed|lost)$/) })));
        expect(queries.slice(1)).toEqual(jobs.map(() => expect.objectContaining({ response: 'Counted.' })));
        return true;
      }, RESTARTED_MS_MAX);
    };
  }

  /** An import creates a tool, a workflow and an agent. */
  async import(): Promise<Flow> {
    const { client } = this.running;
    return async (n) => {
      const send = () =>
        insist(async () => {
          const key = { 'idempotency-key': `import ${n}` };
          const response = await client.post('/api/import_agent', { yaml: fileOf(n) }, key);
          expect(response.status).toBe(200);
          return response.json();
        });
      const created = await send();
      expect(await send()).toEqual(created);
      await eventually(async () => {
        const agents = await client.json<{ name: string; workflow: string | null }[]>('/api/get_agents');
        const { tools } = await client.json<{ tools: { customName: string }[] }>('/api/get_tools');
        const own = agents.filter(({ name }) => name === `Import ${n}`);
        expect(own).toEqual([expect.objectContaining({ workflow: expect.any(String) })]);
        expect(tools.filter(({ customName }) => customName === `Tool of import ${n}`)).toHaveLength(1);
        return true;
      }, RESTARTED_MS_MAX);
    };
  }

  /** Answers the slow call of a run. On a slow machine it may arrive only later. */
  private release(n: number): void {
    this.released.add(n);
    this.held.get(n)?.();
  }

  private async agentThatCounts(more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const body = { type: 'object', properties: { n: { type: 'integer', description: '', filled_by_llm: true } } };
    const count = { name: 'count', method: 'POST', url: this.counter.url, description: 'Counts', active: true, body, ...more };
    const tool = {
      name: 'api_tool',
      displayName: 'Counter',
      description: 'Counts',
      status: true,
      config: { actions: { count } },
    };
    const tools = [await this.created('create_tool', tool)];
    const agent = { name: 'Counter', description: 'Counts', chunks: 4, retriever: 'classic', prompt_id: 'default', tools };
    return this.created('create_agent', { ...agent, status: 'published' });
  }

  private async created(path: string, body: object): Promise<string> {
    return ((await (await this.running.client.post(`/api/${path}`, body)).json()) as { id: string }).id;
  }

  /** Asks, and reads the stream over as many connections as that takes. */
  private async ask(n: number, agentId: string): Promise<Viewer> {
    const body = { question: questionOf(n), agent_id: agentId, visibility: 'listed' };
    const asked = new Viewer({ client: this.running.client, body, idempotencyKey: `question ${n}` });
    await asked.watch(AbortSignal.timeout(RESTARTED_MS_MAX));
    await this.log.refresh();
    return asked;
  }

  /** Expects one turn, ended once, whose replay begins with what its reader saw. */
  private async expectOneTurn(n: number, asked: Viewer): Promise<void> {
    const id = asked.messageId!;
    await eventually(async () => (await this.log.refresh()).turns.get(id)!.seals.length > 0, RESTARTED_MS_MAX);
    const turns = [...this.log.turns].filter(([, { question }]) => question === questionOf(n));
    expect(turns).toEqual([[id, expect.objectContaining({ outcomes: [expect.anything()], seals: [expect.anything()] })]]);
    const replay = recordsIn((await this.running.client.resume(id)).text);
    expect(replay).toBe(await this.log.journalOf(id));
    expect(replay.slice(0, asked.seen.length)).toBe(asked.seen);
    this.expectCountedOnce(n, this.log.turns.get(id)!.outcomes[0]!.data.toolCalls);
  }

  /** Expects the tool to have run once, or at most once if the outcome of its call is unknown. */
  private expectCountedOnce(n: number, calls: Calls): void {
    const counted = this.counter.requests.filter(({ body }) => numberIn(body) === n).length;
    expect(counted).toBeLessThanOrEqual(1);
    if (calls.some(({ status }) => status === 'completed')) expect(counted).toBe(1);
  }
}

const questionOf = (n: number) => `Count {"n":${n}}`;
const numberIn = (json: string) => (JSON.parse(json) as { n: number }).n;
const isInterrupted = ({ frames }: Viewer) => frames.some(({ data }) => data['code'] === 'interrupted');

/** The model calls the counter with the number of the question, and then answers. */
function counting({ messages }: CompletionRequest) {
  const { role, content } = messages.at(-1)!;
  const [, wanted] = /^(?:Count )?(\{"n":\d+\})$/.exec(role === 'user' ? (content as string) : '') ?? [];
  return wanted ? [...say('Let me see. '), call('c1', 'count', JSON.parse(wanted))] : say('Counted.');
}

function fileOf(n: number): string {
  const look = { name: 'look', url: 'http://127.0.0.1:9/look', method: 'GET', description: 'Looks' };
  const tools = [{ type: 'api_tool', name: `Tool of import ${n}`, description: 'Looks', config: { actions: { look } } }];
  const nodes = [
    { id: 'start', type: 'start' },
    { id: 'cook', type: 'agent', config: { tools: ['tool-0'] } },
    { id: 'end', type: 'end' },
  ];
  const edges = [
    { id: 'e1', source: 'start', target: 'cook' },
    { id: 'e2', source: 'cook', target: 'end' },
  ];
  return agentFile({ name: `Import ${n}`, tools, agent_type: 'workflow', workflow: { name: `Flow ${n}`, nodes, edges } });
}

/** Repeats a request as a client does whose service is down for a moment. */
async function insist<T>(request: () => Promise<T>): Promise<T> {
  let got: { value: T } | undefined;
  await eventually(async () => (got = { value: await request() }) !== undefined, RESTARTED_MS_MAX, 'a repeated request succeeds');
  return got!.value;
}
