import { startService } from './measured-service.js';
import { microsNow, startProgram } from './program.js';
import { type Bench, interleaved, median, quantile } from './report.js';
import { type Call, postCompletion, read } from './token-reader.js';
import { processorMsSince } from './usage.js';

const STEPS = 10;
/** The maximum overhead of a step, beside its request to the model. */
const STEP_MS_MAX = 8;
const WARM_UP_ROUNDS = 8;
const ROUNDS = 30;
const PROMPT = 'paced 1 tokens 0 ms';

async function millisecondsOf(work: () => Promise<void>): Promise<number> {
  const since = microsNow();
  await work();
  return (microsNow() - since) / 1000;
}

async function posted(url: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** A graph of this many agents in a row. */
function rowOf(count: number, streams: boolean) {
  const agents = Array.from({ length: count }, (_, at) => ({
    id: `agent-${at}`,
    type: 'agent',
    title: `Agent ${at}`,
    data: { prompt_template: PROMPT, stream_to_user: streams },
  }));
  const nodes = [{ id: 'start', type: 'start', data: {} }, ...agents, { id: 'end', type: 'end', data: {} }];
  const edges = nodes.slice(1).map(({ id }, at) => ({ id: `edge-${at}`, source: nodes[at]!.id, target: id }));
  return { nodes, edges };
}

/** The cost of a workflow step beside its request to the model, with each step in the log before its end is shown. */
export const bench: Bench = {
  name: 'workflow-step',
  title: 'A step of a workflow, against the request to its model made directly',
  async run(context) {
    const model = await startProgram('paced-model');
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1` });
    const agentWith = async (count: number, streams: boolean) => {
      const made = await posted(`${service.url}/api/workflows`, { name: 'Row', ...rowOf(count, streams) });
      const { id: workflow } = made['data'] as { id: string };
      const agent = {
        name: 'Row',
        description: 'Row',
        chunks: 4,
        retriever: 'classic',
        prompt_id: 'default',
        status: 'published',
      };
      const whole = { ...agent, agent_type: 'workflow', workflow };
      return (await posted(`${service.url}/api/create_agent`, whole))['id'] as string;
    };
    const [silent, speaking, empty] = [await agentWith(STEPS, false), await agentWith(STEPS, true), await agentWith(0, false)];
    const asked = (agentId: string) => {
      const call: Call = { method: 'POST', body: { question: 'Go', agent_id: agentId } };
      return () => millisecondsOf(() => read(`${service.url}/stream`, call, {}));
    };
    const directly = async () => {
      const [url, call] = postCompletion(model.url, PROMPT);
      for (let count = 0; count < STEPS; count++) await read(url, call, {});
    };
    const subjects = {
      silent: asked(silent),
      speaking: asked(speaking),
      none: asked(empty),
      direct: () => millisecondsOf(directly),
    };
    await interleaved(WARM_UP_ROUNDS, subjects);
    const turns = await interleaved(ROUNDS, subjects);
    const processorMsOf = async (work: () => Promise<unknown>) => {
      const before = await service.usage();
      for (let round = 0; round < ROUNDS; round++) await work();
      return processorMsSince(before, await service.usage()) / ROUNDS;
    };
    const processorMs = ((await processorMsOf(subjects.silent)) - (await processorMsOf(subjects.none))) / STEPS;
    await Promise.all([service.stop(), model.stop()]);
    const directStep = turns.direct.map((ms) => ms / STEPS);
    const overhead = (of: readonly number[]) => of.map((ms, round) => (ms - turns.none[round]!) / STEPS - directStep[round]!);
    const target = { atMost: STEP_MS_MAX };
    const baseline = { name: 'the request to the model, made directly', value: median(directStep) };
    return {
      figures: [
        { name: 'a step that is silent, median', value: median(overhead(turns.silent)) + baseline.value, unit: 'ms', baseline },
        { name: 'overhead of a silent step, median', value: median(overhead(turns.silent)), unit: 'ms', target },
        { name: 'overhead of a silent step, p99', value: quantile(overhead(turns.silent), 0.99), unit: 'ms' },
        { name: 'overhead of a step that speaks, median', value: median(overhead(turns.speaking)), unit: 'ms', target },
        { name: 'processor time of a silent step, with the database', value: processorMs, unit: 'ms' },
        { name: 'overhead of a step that speaks, p99', value: quantile(overhead(turns.speaking), 0.99), unit: 'ms' },
      ],
      notes: [
        `${ROUNDS} turns of ${STEPS} steps each, in turns. The time of a turn with only start and end is subtracted before the division.`,
      ],
    };
  },
};
