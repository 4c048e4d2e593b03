import { Writable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { newId } from '../../src/kernel/ids.js';
import { askOver, outlineOf } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { eventually } from '../support/eventually.js';
import { everythingStored } from '../support/everything-stored.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, say, think, wait } from '../support/scripted-model-server.js';
import { researchScript } from '../support/researches.js';
import { addedSource } from '../support/sources.js';
import { endOf, taskOf, webhookPath } from '../support/webhooks.js';
import { chain, node } from '../support/workflow-graphs.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Actions = Readonly<Record<string, 'flag' | 'redact' | 'block'>>;
type Query = Readonly<{
  prompt: string;
  response: string;
  thought: string;
  sources: readonly Record<string, unknown>[];
  tool_calls: readonly Record<string, unknown>[];
  status: string;
  metadata?: Record<string, unknown>;
}>;
type GuardrailEvent = Readonly<{
  message_id: string | null;
  stage: string;
  check_name: string;
  action: string;
  match_count: number;
}>;

const BLOCK_MESSAGE = 'That I keep to myself.';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** What a guarded agent reads and writes. Nothing that is masked or blocked is stored anywhere. */
export function guardrailsStory(makeBacking: MakeBacking): void {
  let world: World;
  let post: LocalServer;
  let logged = '';
  /** Every secret that was masked or blocked. */
  const secrets: string[] = [];
  let question: string;

  beforeAll(async () => {
    post = await LocalServer.started();
    const log = pino(
      { level: 'trace' },
      new Writable({ write: (line: Buffer, _, done) => ((logged += line.toString()), done()) }),
    );
    const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', BACKGROUND_YIELD_SECONDS: '5', LOG_LEVEL: 'trace' };
    world = await openWorld(settings, makeBacking, log);
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(() => {
    world.model.reset();
    question = `What is it: ${newId()}`;
    world.model.meantFor = question;
  });

  /** A new key, in the format that the `secrets` check finds. */
  function secret(): string {
    const made = `AKIA${Array.from({ length: 16 }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join('')}`;
    secrets.push(made);
    return made;
  }
  /** A published agent whose policy has these actions per stage. */
  const agent = (actions: Actions, fields: object = {}, more: object = {}) =>
    world.agent({
      config: {
        guardrails: {
          enabled: true,
          mode: 'scan_all',
          block_message: BLOCK_MESSAGE,
          controls: Object.entries(actions).map(([stage, action]) => ({ check: 'secrets', stage, action })),
          ...more,
        },
      },
      ...fields,
    });
  const ask = (agentId: string, fields: object = {}, route: '/stream' | '/api/answer' = '/stream') =>
    askOver(route, world.alice, { question, agent_id: agentId, visibility: 'listed', ...fields });
  const queries = async (id: string) =>
    (await world.alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${id}`)).queries;
  const framesOf = async (messageId: string) => (await replyOf(world.alice.get(`/api/messages/${messageId}/events`))).text;
  /** Read models are updated after the end of an answer. */
  const recorded = async (agentId: string) => {
    let events: readonly GuardrailEvent[] = [];
    await eventually(async () => {
      ({ events } = await world.alice.json<{ events: GuardrailEvent[] }>(`/api/guardrails/events?agent_id=${agentId}`));
      return events.length > 0;
    });
    return events;
  };
  const letters = (text: string) => say(...text);
  const lastPrompt = () => JSON.stringify(world.model.completions.at(-1)!.body.messages);

  /** A tool of the agent, whose server answers as the test specifies. */
  async function tool(): Promise<string> {
    const action = { name: 'fetch', method: 'POST', url: `${post.url}/fetch`, description: 'Fetches', active: true };
    const fields = {
      name: 'api_tool',
      displayName: 'Fetch',
      description: 'Fetches',
      config: { actions: { fetch: action } },
      status: true,
    };
    const { id } = (await (await world.alice.post('/api/create_tool', fields)).json()) as { id: string };
    return id;
  }

  describe('an answer', () => {
    it('is masked, however it is split into tokens, and a replay equals the stream', async () => {
      const { id } = await agent({ output: 'redact' });
      const [one, other] = [secret(), secret()];
      world.model.next([...think(`Is it ${one.slice(0, 7)}`, `${one.slice(7)}?`), ...letters(`It is ${other}, as you know.`)]);
      const asked = await ask(id);
      expect(asked.answer).toBe('It is [REDACTED], as you know.');
      expect(asked.records).toContain('[REDACTED]?');
      expect(await framesOf(asked.messageId!)).toContain(asked.records);
      const [query] = await queries(asked.conversationId);
      expect(query).toMatchObject({
        response: 'It is [REDACTED], as you know.',
        thought: 'Is it [REDACTED]?',
        status: 'complete',
      });
      expect(await recorded(id)).toMatchObject([
        { message_id: asked.messageId, stage: 'output', check_name: 'secrets', action: 'redact', match_count: 2 },
      ]);
    });

    it('is withdrawn when it is blocked, and the model does not read it later', async () => {
      const { id } = await agent({ output: 'block' });
      world.model.next(letters(`Listen well, for this is long. It is ${secret()}.`), say('Nothing.'));
      const asked = await ask(id);
      expect(outlineOf(asked.records).slice(-4)).toEqual(['guardrail', 'error', 'id', 'end']);
      expect(outlineOf(asked.records)).not.toContain('source');
      expect(asked.records).toContain('"retract":true');
      expect([asked.error, asked.code]).toEqual([BLOCK_MESSAGE, 'guardrail']);
      const [query] = await queries(asked.conversationId);
      const guardrail = { stage: 'output', categories: ['AWS_ACCESS_KEY'], checks: ['secrets'] };
      expect(query).toMatchObject({
        status: 'failed',
        response: BLOCK_MESSAGE,
        thought: '',
        metadata: { error: BLOCK_MESSAGE, guardrail },
      });
      await ask(id, { conversation_id: asked.conversationId, question: `${question} And now?` });
      expect(lastPrompt()).not.toContain(BLOCK_MESSAGE);
      expect(await recorded(id)).toMatchObject([{ action: 'block', stage: 'output' }]);
    });

    it('returns 400 as a single object', async () => {
      const { id } = await agent({ output: 'block' });
      world.model.next(letters(`It is ${secret()}.`));
      expect(await ask(id, {}, '/api/answer')).toMatchObject({ status: 400, error: BLOCK_MESSAGE, code: 'guardrail' });
    });

    it('is unchanged in monitoring mode, and findings are recorded without their text', async () => {
      const { id } = await agent({ output: 'block', input: 'block' }, {}, { mode: 'monitor_only' });
      const shown = `AKIA${'QRST'.repeat(4)}`;
      world.model.next([...say('It is ', shown.slice(0, 9)), wait(200), ...say(shown.slice(9))]);
      const asked = await ask(id);
      expect(asked.answer).toBe(`It is ${shown}`);
      expect(asked.records).toContain(`${shown.slice(0, 9)}"}`);
      const events = await recorded(id);
      expect(events).toMatchObject([{ action: 'flag', stage: 'output', match_count: 1 }]);
      expect(JSON.stringify(events)).not.toContain(shown);
    });

    it('with a schema is masked in its values', async () => {
      const json_schema = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
      const { id } = await agent({ output: 'redact' }, { json_schema });
      world.model.next(letters(JSON.stringify({ key: secret() })));
      expect((await ask(id, {}, '/api/answer')).answer).toBe('{"key":"[REDACTED]"}');
    });
  });

  describe('a question', () => {
    it('is stored and sent masked, with its history', async () => {
      const { id } = await agent({ input: 'redact' });
      const history = [{ prompt: `Keep ${secret()}.`, response: 'I do.' }];
      const asked = await ask(id, { question: `${question} ${secret()}`, history });
      const [query] = await queries(asked.conversationId);
      expect(query!.prompt).toBe(`${question} [REDACTED]`);
      expect(lastPrompt()).toContain('Keep [REDACTED].');
      expect(lastPrompt()).toContain(`${question} [REDACTED]`);
    });

    it('ends with the block message when it is blocked, and no model reads it', async () => {
      const { id } = await agent({ input: 'block' });
      const asked = await ask(id, { question: `${question} ${secret()}` });
      expect(outlineOf(asked.records)).toEqual(['message_id', 'guardrail', 'error', 'id', 'end']);
      expect(world.model.completions).toEqual([]);
      const [query] = await queries(asked.conversationId);
      expect(query).toMatchObject({
        prompt: '[Withheld by a content policy.]',
        response: BLOCK_MESSAGE,
        metadata: { guardrail: { stage: 'input', checks: ['secrets'] } },
      });
      const retry = { conversation_id: asked.conversationId, index: 0, question: `${question} ${secret()}` };
      expect((await ask(id, retry)).code).toBe('guardrail');
      expect((await ask(id, { question: secret() }, '/api/answer')).status).toBe(400);
      expect((await recorded(id)).map(({ stage, action }) => [stage, action])).toContainEqual(['input', 'block']);
    });

    it('keeps its key: repeated it is the same turn', async () => {
      const { id } = await agent({ input: 'block' });
      const body = { question: `${question} ${secret()}`, agent_id: id };
      const key = { 'Idempotency-Key': newId() };
      const first = await askOver('/stream', world.alice, body, key);
      const again = await askOver('/stream', world.alice, body, key);
      expect([again.records, again.code]).toEqual([first.records, 'guardrail']);
    });

    it('names the conversation only with text that may be stored, and so does its owner', async () => {
      const { id } = await agent({ input: 'block' });
      const { conversationId } = await ask(id);
      const rename = { id: conversationId, name: `On ${secret()}` };
      expect(await replyOf(world.alice.post('/api/update_conversation_name', rename))).toMatchObject({
        status: 400,
        body: { code: 'guardrail' },
      });
    });
  });

  describe('the input of an agent', () => {
    it('from tools is masked before the model, the record and the reader get it', async () => {
      const { id } = await agent({ tool_result: 'redact' }, { tools: [await tool()] });
      post.answer = (_, response) => answerJson(response, { key: [secret()], rows: 7 });
      world.model.next([call('c1', 'fetch', {})], say('Done.'));
      const asked = await ask(id);
      expect(JSON.stringify(asked.toolCalls)).toContain('[REDACTED]');
      expect(lastPrompt()).toContain('[REDACTED]');
      expect(lastPrompt()).toContain('rows');
    });

    it('from tools is replaced by a note when it is blocked, and the answer continues', async () => {
      const { id } = await agent({ tool_result: 'block' }, { tools: [await tool()] });
      post.answer = (_, response) => answerJson(response, { key: secret() });
      world.model.next([call('c1', 'fetch', {})], say('Done.'));
      const asked = await ask(id);
      expect(asked.answer).toBe('Done.');
      expect(lastPrompt()).toContain('withheld by a content policy');
    });

    it('from jobs is masked before it is stored, and in the follow-up', async () => {
      const { id } = await agent({ tool_result: 'redact' }, { tools: [await tool()] });
      let finish = () => {};
      post.answer = (_, response) => (finish = () => answerJson(response, { key: secret(), rows: 7 }));
      world.model.next([call('c1', 'fetch', {})], say('It works on.'), say('There are 7 rows.'));
      const { conversationId } = await ask(id);
      finish();
      await eventually(async () => (await queries(conversationId)).at(-1)?.response === 'There are 7 rows.');
      expect(lastPrompt()).toContain('[REDACTED]');
    });

    it('from its sources is masked or withheld in the prompt and for readers', async () => {
      const inSource = `AKIA${'UVWX'.repeat(4)}`;
      const source = await addedSource(world.alice, 'Keys', `# Keys\n\nThe key of the shed is ${inSource}.`);
      for (const [action, shown] of [
        ['redact', 'The key of the shed is [REDACTED].'],
        ['block', '[Withheld by a content policy.]'],
      ] as const) {
        const { id } = await agent({ retrieval: action }, { source });
        const asked = await ask(id, { question: `${question} the key of the shed` });
        const [query] = await queries(asked.conversationId);
        expect(JSON.stringify(query!.sources)).toContain(shown);
        expect(asked.records + lastPrompt() + JSON.stringify(query)).not.toContain(inSource);
        expect(lastPrompt()).toContain(shown);
      }
    });

    it('from its sources is masked or withheld in searches without a model', async () => {
      const inSource = `AKIA${'EFGH'.repeat(4)}`;
      const source = await addedSource(world.alice, 'Codes', `# Codes\n\nThe code of the barn is ${inSource}.`);
      for (const [action, shown] of [
        ['redact', 'The code of the barn is [REDACTED].'],
        ['block', '[Withheld by a content policy.]'],
      ] as const) {
        const { id, key } = await agent({ retrieval: action }, { source });
        const found = await replyOf(world.nobody.post('/api/search', { question: 'the code of the barn', api_key: key }));
        expect([found.status, found.text.includes(inSource)]).toEqual([200, false]);
        expect(found.text).toContain(shown);
        expect(await recorded(id)).toMatchObject([{ message_id: null, stage: 'retrieval', check_name: 'secrets', action }]);
      }
    });

    it('from the client’s own code, and from comments on a denial, is masked', async () => {
      const { id } = await agent({ input: 'redact', tool_result: 'redact', output: 'redact' });
      const client_tools = [
        { type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } },
      ];
      const [argument, result] = [secret(), secret()];
      world.model.next([...letters(`I look for ${secret()}`), call('c1', 'look', { for: argument })], say('Done.'));
      const asked = await ask(id, { client_tools });
      expect(asked.pending).toMatchObject([{ call_id: 'c1', arguments: { for: '[REDACTED]' } }]);
      const tool_actions = [{ call_id: 'c1', result: { it: `is ${result}` } }];
      const resumed = await askOver('/stream', world.alice, { conversation_id: asked.conversationId, tool_actions });
      expect(resumed.answer).toBe('Done.');
      expect(lastPrompt()).toContain('is [REDACTED]');
    });
  });

  describe('the steps of an agent', () => {
    /** An expression that joins two halves to a secret, neither of which is one. */
    const halves = (whole: string) => `"${whole.slice(0, 8)}" + "${whole.slice(8)}"`;
    const workflowAgent = async (...between: ReturnType<typeof node>[]) => {
      const graph = chain(node('start'), ...between, node('end', 'end', { output_template: '{{ draft }}, {{ made }}' }));
      const { data } = (await (await world.alice.post('/api/workflows', { name: 'Keys', ...graph })).json()) as {
        data: { id: string };
      };
      return agent({ output: 'redact' }, { agent_type: 'workflow', workflow: data.id });
    };

    it('in a workflow are masked in its state, its files, its record and its end', async () => {
      const code = `open('key.txt', 'w').write(${halves(secret())})`;
      const { id } = await workflowAgent(
        node('agent', 'draft', { stream_to_user: false, output_variable: 'draft' }),
        node('state', 'make', { operations: [{ expression: halves(secret()), target_variable: 'made' }] }),
        node('code', 'code', { code, output_variable: 'file' }),
      );
      world.model.next(letters(secret()));
      const asked = await ask(id);
      expect(asked.answer).toBe('[REDACTED], [REDACTED]');
      const runId = /"workflow_run_id":"([^"]+)"/.exec(asked.records)![1]!;
      const { data } = await world.alice.json<{ data: { result: Record<string, unknown> } }>(`/api/workflow_runs/${runId}`);
      expect(data.result).toMatchObject({ draft: '[REDACTED]', made: '[REDACTED]', file: { filename: 'key.txt' } });
      const { artifact_id: file } = data.result['file'] as { artifact_id: string };
      expect((await replyOf(world.alice.get(`/api/artifacts/${file}/download`))).text).toBe('[REDACTED]');
    }, 120_000);

    it('in a workflow are masked in error messages', async () => {
      const { id } = await workflowAgent(node('code', 'code', { code: `raise ValueError(${halves(secret())})` }));
      expect((await ask(id)).error).toContain('ValueError: [REDACTED]');
    }, 120_000);

    it('in a research are masked in its plan, its reports and its answer', async () => {
      const { id } = await agent({ output: 'redact' }, { agent_type: 'research' });
      const [report, answer] = [secret(), secret()];
      world.model.always(
        researchScript([`find ${secret()}`], {
          'find [REDACTED]': () => letters(`It is ${report}.`),
          answer: () => letters(`So it is ${answer}.`),
        }),
      );
      const asked = await ask(id);
      expect(asked.records).toContain('"query":"find [REDACTED]"');
      expect(asked.answer).toBe('So it is [REDACTED].');
      const written = world.model.completions.map(({ body }) => JSON.stringify(body.messages));
      expect(written.some((each) => each.includes('It is [REDACTED].'))).toBe(true);
      expect(written.filter((each) => each.includes(report))).toEqual([]);
    });
  });

  describe('a headless run', () => {
    it('stores a delivery masked, or ends as blocked', async () => {
      const redacting = await agent({ input: 'redact' });
      const path = await webhookPath(world.alice, redacting.id);
      world.model.meantFor = undefined;
      world.model.next(say('Noted.'));
      await endOf(world.alice, await taskOf(world.nobody.post(path, { order: 1, key: secret() })));
      expect(lastPrompt()).toContain('[REDACTED]');

      const blocking = await agent({ input: 'block' });
      const blockingPath = await webhookPath(world.alice, blocking.id);
      const before = world.model.completions.length;
      const ended = await endOf(world.alice, await taskOf(world.nobody.post(blockingPath, { key: secret() })));
      expect(ended).toMatchObject({ status: 'SUCCESS', result: { status: 'success', result: { answer: '', thought: '' } } });
      expect(world.model.completions).toHaveLength(before);
    });

    it('blocks an answer like any other', async () => {
      const { id } = await agent({ output: 'block' });
      world.model.meantFor = undefined;
      world.model.next(letters(`It is ${secret()}.`));
      const ended = await endOf(world.alice, await taskOf(world.nobody.post(await webhookPath(world.alice, id), { order: 2 })));
      expect(ended).toMatchObject({ result: { result: { answer: '', thought: '', sources: [] } } });
    });

    it('of a schedule stores only a permitted instruction, or the schedule is refused', async () => {
      const schedule = (agentId: string) =>
        replyOf(
          world.alice.post(`/api/agents/${agentId}/schedules`, {
            instruction: `Report ${secret()}.`,
            cron: '0 9 31 12 *',
            timezone: 'UTC',
          }),
        );
      const { id } = await agent({ input: 'redact' });
      const made = await schedule(id);
      expect(made).toMatchObject({ status: 201, body: { schedule: { instruction: 'Report [REDACTED].' } } });
      expect(await schedule((await agent({ input: 'block' })).id)).toMatchObject({ status: 400, body: { code: 'guardrail' } });
    });
  });

  describe('the instance', () => {
    it('has stored nothing that was masked or blocked: not in its log, its files, its read models or its output', async () => {
      await world.quietHead();
      expect(secrets.length).toBeGreaterThan(20);
      const isIn = (text: string) => secrets.filter((each) => text.includes(each));
      const found: string[] = [];
      let texts = 0;
      for await (const { where, text } of everythingStored(world)) {
        texts++;
        if (isIn(text).length > 0) found.push(where);
      }
      expect(texts).toBeGreaterThan(500);
      expect(found).toEqual([]);
      expect(isIn(logged)).toEqual([]);
      expect(logged.length).toBeGreaterThan(1_000);
    });
  });
}
