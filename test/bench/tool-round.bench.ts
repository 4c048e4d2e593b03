import { startService } from './measured-service.js';
import { microsNow, startProgram } from './program.js';
import { type Bench, interleaved, median, quantile, warmUp, WARM_UP_SECONDS } from './report.js';
import { rawCommits } from './raw-commits.js';
import { type Call, postCompletion, read } from './token-reader.js';

const CALLS = 10;
const ROUNDS = 120;
const QUESTION = `paced 1 tokens 0 ms call ${CALLS} times`;
const WITHOUT = 'paced 1 tokens 0 ms';
const TOOL = { type: 'function', function: { name: 'act', description: 'Acts', parameters: { type: 'object' } } };

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

/** A round without a service: asks the model, calls the tool, sends the model the result, and stores nothing. */
async function directly(model: string, tool: string): Promise<void> {
  const messages: object[] = [{ role: 'user', content: QUESTION }];
  const [url, call] = postCompletion(model, QUESTION);
  for (let count = 0; count < CALLS; count++) {
    await read(url, { ...call, body: { ...(call.body as object), tools: [TOOL], messages } }, {});
    await read(tool, { method: 'POST', body: { text: 'hello' } }, {});
    messages.push({ role: 'tool', tool_call_id: String(count), content: '{"done":true}' });
  }
}

/**
 * The cost of a round of model and tool with every step in the log: for reads, and for calls with side effects, which are
 * recorded before and after.
 */
export const bench: Bench = {
  name: 'tool-round',
  title: 'A round of model and tool, against the same two requests made directly',
  async run(context) {
    const [model, tool] = await Promise.all([startProgram('paced-model'), startProgram('instant-tool')]);
    const service = await startService(context, { OPENAI_BASE_URL: `${model.url}/v1`, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
    const agentWith = async (method: 'GET' | 'POST') => {
      const action = { name: 'act', method, url: tool.url, description: 'Acts', active: true };
      const { id } = await posted(`${service.url}/api/create_tool`, {
        name: 'api_tool',
        displayName: method,
        description: method,
        config: { actions: { act: action } },
        status: true,
      });
      const agent = {
        name: method,
        description: method,
        chunks: 4,
        retriever: 'classic',
        prompt_id: 'default',
        status: 'published',
      };
      return (await posted(`${service.url}/api/create_agent`, { ...agent, tools: [id] }))['id'] as string;
    };
    const raw = await rawCommits(service);
    const [reading, writing] = [await agentWith('GET'), await agentWith('POST')];
    const asked = (agentId: string, question: string) => {
      const call: Call = { method: 'POST', body: { question, agent_id: agentId } };
      return () => millisecondsOf(() => read(`${service.url}/stream`, call, {}));
    };
    const subjects = {
      reads: asked(reading, QUESTION),
      writes: asked(writing, QUESTION),
      none: asked(reading, WITHOUT),
      direct: () => millisecondsOf(() => directly(model.url, tool.url)),
      raw: () => raw.commit(),
    };
    await warmUp(subjects);
    const { reads, writes, none, direct, raw: commits } = await interleaved(ROUNDS, subjects);
    await raw.close();
    await Promise.all([service.stop(), tool.stop(), model.stop()]);
    const perRound = (turns: readonly number[]) => turns.map((ms, round) => (ms - none[round]!) / CALLS);
    const directRound = direct.map((ms) => ms / CALLS);
    const overhead = (turns: readonly number[]) => perRound(turns).map((ms, round) => ms - directRound[round]!);
    const baseline = { name: 'both requests made directly', value: median(directRound) };
    return {
      figures: [
        { name: 'a round with a read, median', value: median(perRound(reads)), unit: 'ms', baseline },
        { name: 'a round with effects, median', value: median(perRound(writes)), unit: 'ms', baseline },
        { name: 'overhead of a read, median', value: median(overhead(reads)), unit: 'ms' },
        {
          name: 'overhead of a read, median, in raw commits',
          value: median(overhead(reads)) / median(commits),
          unit: '×',
          target: { atMost: 1.5 },
        },
        { name: 'overhead of a read, p99', value: quantile(overhead(reads), 0.99), unit: 'ms' },
        { name: 'overhead of effects, median', value: median(overhead(writes)), unit: 'ms' },
        { name: 'overhead of effects, p99', value: quantile(overhead(writes), 0.99), unit: 'ms' },
      ],
      notes: [
        `${ROUNDS} turns of ${CALLS} rounds each, in turns, after ${WARM_UP_SECONDS} s of the same. The time of a turn without tools is subtracted before the division.`,
      ],
    };
  },
};
