import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Asked, askOver, outlineOf } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { recordsIn, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';
import { call, say } from '../support/scripted-model-server.js';
import { Seeded } from '../support/seeded.js';
import { TurnLog } from '../support/turn-log.js';

const ASKING = [...say('Let me see. '), call('c1', 'send_card', { text: 'hello' })];
const UNKNOWN_OUTCOME = { call_id: 'c1', status: 'error', error_type: 'outcome_unknown' };
const KILLS = 8;

/** A process is killed around a call with side effects: an approval is kept, and the call takes effect once. */
export function toolCallsStory(makeBacking: MakeBacking): void {
  let running: ScriptedProcess;
  let post: LocalServer;
  let agentId: string;
  let log: TurnLog;

  beforeAll(async () => {
    post = await LocalServer.started();
    running = await startScriptedProcess(
      { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', TITLE_MODEL_ID: 'none' },
      { backing: await makeBacking(), standbys: 1 },
    );
    log = new TurnLog(running.backing.store);
    const { id } = await created('create_tool', {
      name: 'api_tool',
      displayName: 'Cards',
      description: 'Sends cards',
      config: { actions: { send_card: action('send_card', true), drop_card: action('drop_card', false) } },
      status: true,
    });
    const agent = { name: 'Guide', description: 'Knows', chunks: 4, retriever: 'classic', prompt_id: 'default', tools: [id] };
    agentId = (await created('create_agent', { ...agent, status: 'published' })).id;
  });
  afterAll(async () => {
    await running.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    post.answer = (_request, response) => answerJson(response, { posted: true });
    running.model.reset();
  });

  const action = (name: string, requireApproval: boolean) => ({
    name,
    method: 'POST',
    url: `${post.url}/${name}`,
    description: 'Sends a card',
    active: true,
    require_approval: requireApproval,
    body: { type: 'object', properties: { text: { type: 'string', description: '', filled_by_llm: true } } },
  });
  const created = async (path: string, body: object) =>
    (await (await running.client.post(`/api/${path}`, body)).json()) as { id: string };
  const ask = () => askOver('/stream', running.client, { question: 'Send a card?', agent_id: agentId, visibility: 'listed' });
  const approve = ({ conversationId }: Asked) =>
    running.client.post('/stream', { conversation_id: conversationId, tool_actions: [{ call_id: 'c1', decision: 'approved' }] });
  const killed = async () => {
    await running.service.kill();
    await running.service.start();
  };

  /** Kills the process while the tool has the request. The tool responds only after that. */
  async function killedInTheAct(begin: () => void): Promise<void> {
    post.answer = () => undefined;
    begin();
    await eventually(() => post.requests.length === 1);
    await killed();
    post.answer = (_request, response) => answerJson(response, { posted: true });
  }

  async function storedOnce(messageId: string): Promise<string> {
    await eventually(async () => (await log.refresh()).turns.get(messageId)?.seals.length === 1);
    const journal = await log.journalOf(messageId);
    expect(recordsIn((await running.client.resume(messageId)).text)).toBe(journal);
    return journal;
  }

  const lastQuery = async ({ conversationId }: Asked) => {
    const path = `/api/get_single_conversation?id=${conversationId}`;
    return (await running.client.json<{ queries: Record<string, unknown>[] }>(path)).queries.at(-1)!;
  };

  it('a call is not repeated when its effect is unknown, and the turn continues and says so', async () => {
    running.model.next(ASKING, say('I cannot tell.'));
    const paused = await ask();
    await killedInTheAct(() => void approve(paused).catch(() => undefined));
    const journal = await storedOnce(paused.messageId!);
    expect(post.requests).toHaveLength(1);
    expect(journal.startsWith(paused.records)).toBe(true);
    expect(outlineOf(journal.slice(paused.records.length))).toEqual([
      'message_id',
      'tool_call pending',
      'tool_call error',
      'answer',
      'source',
      'tool_calls',
      'id',
      'end',
    ]);
    await eventually(async () => {
      expect(await lastQuery(paused)).toMatchObject({ response: 'Let me see. I cannot tell.', tool_calls: [UNKNOWN_OUTCOME] });
      return true;
    });
  });

  it('a call is not repeated in the first run of a turn either, which ends as interrupted', async () => {
    running.model.next([...say('Dropping it. '), call('c1', 'drop_card', { text: 'hello' })], say('Not this.'));
    let shown = '';
    const asked = running.client.post('/stream', { question: 'Drop it?', agent_id: agentId, visibility: 'listed' });
    const reading = asked.then((response) => streamed(response, (text) => ((shown = text), false))).catch(() => undefined);
    await killedInTheAct(() => undefined);
    await reading;
    const messageId = /"message_id":"([^"]+)"/.exec(shown)![1]!;
    const journal = await storedOnce(messageId);
    expect(post.requests).toHaveLength(1);
    expect(journal.startsWith(recordsIn(shown))).toBe(true);
    expect(journal).toContain('outcome_unknown');
    expect(journal).toContain('"code":"interrupted"');
  });

  it(`a call runs once and is approved once, whenever the process is killed (${KILLS} moments)`, async () => {
    const random = new Seeded(Number(process.env['TEST_SEED'] ?? 11));
    for (let kill = 0; kill < KILLS; kill++) {
      post.requests.length = 0;
      running.model.reset();
      running.model.next(ASKING).always(say('Done.'));
      const paused = await ask();
      const approving = approve(paused)
        .then((response) => streamed(response))
        .catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, random.between(0, 60)));
      await killed();
      await approving;
      await log.refresh();
      // If the process was killed before the approval was in the log, the call is still pending.
      const again = await askOver('/stream', running.client, {
        conversation_id: paused.conversationId,
        tool_actions: [{ call_id: 'c1', decision: 'approved' }],
      });
      expect([200, 409]).toContain(again.status);
      const journal = await storedOnce(paused.messageId!);
      expect(journal.startsWith(paused.records)).toBe(true);
      expect(outlineOf(journal).filter((type) => type === 'end')).toHaveLength(2);
      const end = outlineOf(journal).filter((type) => type === 'tool_call completed' || type === 'tool_call error');
      expect(end).toHaveLength(1);
      expect(post.requests.length).toBeLessThanOrEqual(1);
      if (end[0] === 'tool_call completed') expect(post.requests).toHaveLength(1);
    }
  }, 300_000);
}
