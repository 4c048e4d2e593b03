import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SessionTokens } from '../../src/resources/identity/session-tokens.js';
import type { MakeBacking } from '../support/backing.js';
import { framesIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { type ExampleLanguage, printedBy, RunningExample } from '../support/example.js';
import { answerJson, LocalServer } from '../support/local-server.js';
import { call, say, wait } from '../support/scripted-model-server.js';
import { TEST_SETTINGS } from '../support/service.js';
import { addedSource } from '../support/sources.js';
import { webhookPath } from '../support/webhooks.js';
import { openWorld, type World } from '../support/world.js';

const WORDS = ['One ', 'two ', 'three ', 'four ', 'five.'];
const UUID = '[0-9a-f-]{36}';

/** The examples of `docs/examples`, run like their readers run them, against a service with a scripted model. */
export function examplesStory(makeBacking: MakeBacking, languages: readonly ExampleLanguage[]): void {
  let world: World;
  let post: LocalServer;
  let agent: Readonly<{ id: string; key: string }>;
  let asKeyHolder: Readonly<Record<string, string>>;
  let asAlice: Readonly<Record<string, string>>;

  beforeAll(async () => {
    post = await LocalServer.started((_request, response) => answerJson(response, { posted: true }));
    // Keepalives make curl notice that its reader has closed the pipe.
    world = await openWorld({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SSE_KEEPALIVE_SECONDS: '1' }, makeBacking);
    const source = await addedSource(world.alice, 'Birds', '# Storks\n\nStorks fly south in August.', 'storks.md');
    agent = await world.agent({ tools: [await cardTool()], source });
    const { url } = world.service;
    const token = await new SessionTokens(TEST_SETTINGS.JWT_SECRET_KEY).issue({ subject: 'alice', roles: [] });
    asKeyHolder = { VERBATIM_URL: url, VERBATIM_API_KEY: agent.key };
    asAlice = { VERBATIM_URL: url, VERBATIM_TOKEN: token, VERBATIM_AGENT_ID: agent.id };
  });
  afterAll(async () => {
    await world.close();
    await post.close();
  });
  beforeEach(() => {
    post.requests.length = 0;
    world.model.reset();
  });

  async function cardTool(): Promise<string> {
    const text = { type: 'string', description: 'What the card says', filled_by_llm: true };
    const action = {
      name: 'send_card',
      method: 'POST',
      url: `${post.url}/send_card`,
      description: 'Sends a card',
      active: true,
      require_approval: true,
      body: { type: 'object', properties: { text } },
    };
    const config = { actions: { send_card: action } };
    const tool = { name: 'api_tool', displayName: 'Cards', description: 'Sends cards', config, status: true };
    return ((await (await world.alice.post('/api/create_tool', tool)).json()) as { id: string }).id;
  }

  describe.each(languages)('the examples in %s', (language) => {
    const isRaw = language === 'curl';

    it('ask a question and print the answer with its sources', async () => {
      world.model.next(say(...WORDS));
      const printed = await printedBy(language, 'ask', { environment: asKeyHolder, arguments: ['When do storks fly?'] });
      if (isRaw) expect(JSON.parse(printed)).toMatchObject({ answer: WORDS.join(''), sources: [{ title: 'Storks' }] });
      else expect(printed).toMatch(new RegExp(`^answer: ${WORDS.join('')}\nsource: Storks\nconversation: ${UUID}\n$`));
      expect(world.model.completions.at(-1)!.body.messages.at(-1)!.content).toContain('When do storks fly?');
    });

    it('stream an answer, and continue after the connection was cut', async () => {
      // Long enough that most connections are cut and reopened while the answer is being streamed.
      world.model.next([...say(...WORDS.slice(0, 2)), wait(1_500), ...say(...WORDS.slice(2))]);
      const environment = { ...asKeyHolder, VERBATIM_CUT_AFTER: '3' };
      const printed = await printedBy(language, 'stream', { environment, arguments: ['Count.'] });
      const [, answer, frames, connections, isComplete] = /^(.*)frames: (\d+), connections: (\d+), complete: (\w+)\n$/s.exec(
        printed,
      )!;
      expect([Number(connections), isComplete]).toEqual([2, 'true']);
      expect(world.model.completions).toHaveLength(1);
      if (!isRaw) return expect(answer).toBe(`${WORDS.join('')}\n`);
      const shown = framesIn(answer!);
      expect(shown.map(({ id }) => id)).toEqual([...Array(Number(frames)).keys()]);
      expect(shown.map(({ data }) => (data['answer'] as string | undefined) ?? '').join('')).toBe(WORDS.join(''));
    });

    it('stream an answer over one connection if it is not cut', async () => {
      world.model.next(say(...WORDS));
      const printed = await printedBy(language, 'stream', { environment: asKeyHolder, arguments: ['Count.'] });
      expect(printed).toMatch(/connections: 1, complete: true\n$/);
    });

    it.each([
      ['y', 'completed', ['{"text":"hello"}']],
      ['n', 'denied', []],
    ])('decide on a tool call: %s', async (input, status, sent) => {
      world.model.next([...say('Let me. '), call('c1', 'send_card', { text: 'hello' })], say('Done.'));
      const run = { environment: asAlice, arguments: ['Send a card.'], input: `${input}\n` };
      const printed = await printedBy(language, 'approve', run);
      expect(post.requests.map(({ body }) => body)).toEqual(sent);
      if (!isRaw) {
        const asked = 'approve api_tool.send_card {"text":"hello"}? [y/n]';
        return expect(printed).toBe(`${asked}\ncall: send_card ${status}\nanswer: Done.\n`);
      }
      const [pending, question, done] = printed.split('\n');
      expect(JSON.parse(pending!)).toMatchObject({ pending_tool_calls: [{ call_id: 'c1', arguments: { text: 'hello' } }] });
      expect(question).toBe('approve c1? [y/n]');
      expect(JSON.parse(done!)).toMatchObject({ answer: 'Done.', tool_calls: [{ call_id: 'c1', status }] });
    });

    it('deliver to a webhook once, even if they send twice', async () => {
      world.model.next(say('Noted.'));
      const environment = { VERBATIM_WEBHOOK_URL: world.service.url + (await webhookPath(world.alice, agent.id)) };
      const printed = await printedBy(language, 'webhook', { environment, arguments: ['{"order": 7}', `order-7-${language}`] });
      expect(world.model.completions.map(({ body }) => body.messages.at(-1)!.content)).toEqual([
        expect.stringContaining('{"order": 7}'),
      ]);
      const [task, again, ...outcome] = printed.trimEnd().split('\n');
      expect([task, again]).toEqual([expect.stringMatching(`^task: ${UUID}$`), 'delivered again: the same task']);
      if (!isRaw) return expect(outcome).toEqual(['status: SUCCESS', 'answer: Noted.']);
      expect(JSON.parse(outcome[0]!)).toMatchObject({ status: 'SUCCESS', result: { result: { answer: 'Noted.' } } });
    });

    it('follow the events of a user', async () => {
      const tab = RunningExample.start(language, 'events', { environment: asAlice, arguments: ['2'] });
      await eventually(async () => tab.printed.includes('connected'));
      world.model.next(say('So.'));
      const { conversation_id: id } = (await (
        await world.alice.post('/api/answer', { question: 'Why?', visibility: 'listed' })
      ).json()) as { conversation_id: string };
      const mark = (mark: string) => JSON.stringify({ conversation_id: id, mark });
      const lines = (await tab.end()).trimEnd().split('\n');
      if (!isRaw) {
        const told = ['running', 'unread'].map((each) => `conversation.mark ${id} ${mark(each)}`);
        return expect(lines).toEqual(['connected', ...told]);
      }
      const events = lines.filter((line) => line.startsWith('data: '));
      expect(events.map((line) => JSON.parse(line.slice(6)) as unknown)).toMatchObject(
        ['running', 'unread'].map((each) => ({ type: 'conversation.mark', payload: { conversation_id: id, mark: each } })),
      );
    });

    it('print the service’s message when it refuses', async () => {
      const environment = { ...asKeyHolder, VERBATIM_API_KEY: 'nobody’s' };
      for (const name of ['ask', 'stream'] as const) {
        await expect(printedBy(language, name, { environment })).rejects.toThrow(/Invalid API key/);
      }
    });
  });
}
