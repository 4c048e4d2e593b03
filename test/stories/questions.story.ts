import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, conversationIdIn, messageIdIn, withoutRepeats } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { broken, hang, say, think } from '../support/scripted-model-server.js';
import { TurnLog } from '../support/turn-log.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Message = Readonly<{ role: string; content: unknown }>;
type Conversation = Readonly<{
  name: string;
  queries: readonly (Record<string, unknown> & { prompt: string; response: string })[];
}>;

/** The fields of a question, from both ends: what the model gets, and what the asker gets. */
export function questionsStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ MODEL_IDS: 'scripted,other' }, makeBacking);
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const ask = (body: object, client = world.alice) => client.stream({ question: 'Why?', ...body });
  const answer = async (body: object) => (await replyOf(world.alice.post('/api/answer', { question: 'Why?', ...body }))).body;
  const told = (): readonly Message[] => world.model.completions.at(-1)!.body.messages;
  const exchanged = () => told().filter(({ role }) => role !== 'system');
  const conversation = (id: string) => world.alice.json<Conversation>(`/api/get_single_conversation?id=${id}`);
  const listed = async () => (await world.alice.json<{ id: string }[]>('/api/get_conversations')).map(({ id }) => id);

  describe('history', () => {
    const exchange = { prompt: 'Who are you?', response: 'A guide.' };
    const before = [
      { role: 'user', content: exchange.prompt },
      { role: 'assistant', content: exchange.response },
    ];
    const question = { role: 'user', content: 'Why?' };

    it.each([
      ['a text of JSON', JSON.stringify([exchange]), before],
      ['an array', [exchange], before],
      ['with more than it needs', [{ ...exchange, sources: [], thought: 'x' }], before],
      ['with a question that was not answered', [exchange, { prompt: 'And?' }, { prompt: 'Hm?', response: null }], before],
      ['empty', [], []],
      ['an empty text', '', []],
      ['an empty text of JSON', '[]', []],
      ['null', null, []],
    ])('is sent to the model: %s', async (_, history, expected) => {
      await ask({ history });
      expect(exchanged()).toEqual([...expected, question]);
    });

    it('is accepted for new conversations, and stored with them', async () => {
      const conversation_id = conversationIdIn(await ask({ history: [exchange] }));
      await ask({ question: 'And then?', conversation_id, history: [{ prompt: 'Other', response: 'Thing' }] });
      expect(exchanged()).toEqual([
        ...before,
        question,
        { role: 'assistant', content: 'Hello from the script.' },
        { role: 'user', content: 'And then?' },
      ]);
    });

    it('of a conversation omits failed answers, and contains the text of a stopped one', async () => {
      const { model, alice } = world;
      const conversation_id = conversationIdIn(await ask({}));
      model.next([...say('Half'), broken]);
      await ask({ question: 'Fails?', conversation_id });
      model.next([...say('Half'), hang]);
      await alice.stream({ question: 'Stops?', conversation_id }, (text) => {
        const id = /"message_id":"([^"]+)"/.exec(text)?.[1];
        if (text.includes('Half')) void alice.post(`/api/messages/${id}/cancel`, {});
        return false;
      });
      await ask({ question: 'And then?', conversation_id });
      expect(exchanged().map(({ content }) => content)).toEqual([
        ...['Why?', 'Hello from the script.', 'Stops?', 'Half', 'And then?'],
      ]);
      expect(
        (await conversation(conversation_id)).queries.map(({ prompt, response, status }) => [prompt, response, status]),
      ).toEqual([
        ['Why?', 'Hello from the script.', 'complete'],
        ['Fails?', 'Half', 'failed'],
        ['Stops?', 'Half', 'complete'],
        ['And then?', 'Hello from the script.', 'complete'],
      ]);
    });
  });

  describe('index', () => {
    it('replaces an earlier question, and removes the later ones', async () => {
      const conversation_id = conversationIdIn(await ask({ question: 'First?' }));
      await ask({ question: 'Second?', conversation_id });
      await ask({ question: 'Third?', conversation_id });
      const edited = await ask({ question: 'Another second?', conversation_id, index: 1 });
      expect(edited.frames.at(-1)!.data.type).toBe('end');
      expect(exchanged().map(({ content }) => content)).toEqual(['First?', 'Hello from the script.', 'Another second?']);
      expect((await conversation(conversation_id)).queries.map(({ prompt }) => prompt)).toEqual(['First?', 'Another second?']);
      const { turns } = await new TurnLog(world.backing.store).refresh();
      const asked = [...turns.values()].filter(({ conversationId }) => conversationId === conversation_id);
      expect(asked.map(({ question }) => question)).toEqual(['First?', 'Second?', 'Third?', 'Another second?']);
    });

    it('of the next question has no effect, and 0 restarts the conversation', async () => {
      const conversation_id = conversationIdIn(await ask({ question: 'First?' }));
      await ask({ question: 'Second?', conversation_id, index: 1 });
      await ask({ question: 'Other first?', conversation_id, index: '0' });
      expect(exchanged().map(({ content }) => content)).toEqual(['Other first?']);
      expect((await conversation(conversation_id)).queries.map(({ prompt }) => prompt)).toEqual(['Other first?']);
    });

    it('stops the answer that it replaces', async () => {
      const { model } = world;
      model.next([...say('Half'), hang]);
      const conversationOf = async (turnId: string) =>
        (await new TurnLog(world.backing.store).refresh()).turns.get(turnId)!.conversationId;
      let seen = '';
      const first = world.alice.stream({ question: 'First?' }, (text) => {
        seen = text;
        return false;
      });
      await eventually(() => seen.includes('Half'));
      const conversation_id = await conversationOf(/"message_id":"([^"]+)"/.exec(seen)![1]!);
      expect(answerIn(await ask({ question: 'Other first?', conversation_id, index: 0 }))).toBe('Hello from the script.');
      expect((await first).frames.at(-1)!.data['code']).toBe('stopped');
    });

    it('is ignored by /api/answer', async () => {
      const conversation_id = conversationIdIn(await ask({ question: 'First?' }));
      await answer({ question: 'Second?', conversation_id, index: 0 });
      expect((await conversation(conversation_id)).queries.map(({ prompt }) => prompt)).toEqual(['First?', 'Second?']);
    });
  });

  describe('model_id', () => {
    it('takes precedence over the agent’s model, which takes precedence over the default', async () => {
      const { id, key } = await world.agent({ default_model_id: 'other' });
      const models: string[] = [];
      for (const body of [
        {},
        { agent_id: id },
        { api_key: key },
        { api_key: key, model_id: 'scripted' },
        { model_id: 'other' },
        { model_id: '' },
      ]) {
        const conversationId = conversationIdIn(await ask(body));
        models.push(world.model.completions.at(-1)!.body.model);
        expect((await conversation(conversationId)).queries[0]!['model_id']).toBe(models.at(-1));
      }
      expect(models).toEqual(['scripted', 'other', 'other', 'scripted', 'other', 'scripted']);
    });
  });

  describe('retriever', () => {
    it('without an equivalent searches like classic, with a notice', async () => {
      const told = 'This service has no retriever "graphrag": it searches as "classic" does.';
      const { id } = await world.agent({ retriever: 'graphrag' });
      for (const body of [{ retriever: 'graphrag' }, { agent_id: id }]) {
        const notices = (await ask(body)).frames.filter(({ data }) => data.type === 'notice');
        expect(notices.map(({ data }) => data['notice'])).toEqual([told]);
        expect(await answer(body)).toMatchObject({ warnings: [told] });
      }
      expect(await answer({ retriever: 'hybrid' })).not.toHaveProperty('warnings');
    });

    it('is ignored if an agent is given, also one that names none', async () => {
      for (const retriever of ['classic', '']) {
        const { id } = await world.agent({ retriever });
        expect(await answer({ retriever: 'graphrag', agent_id: id })).not.toHaveProperty('warnings');
      }
    });
  });

  describe('prompt_id', () => {
    it('that is unknown is refused only if no agent is given', async () => {
      const { id } = await world.agent();
      expect((await ask({ prompt_id: 'gone', agent_id: id })).status).toBe(200);
      for (const prompt_id of ['', 'default', 'agentic_strict']) expect((await ask({ prompt_id })).status).toBe(200);
    });
  });

  describe('an agent', () => {
    it('named by its key takes precedence over one named by id, and its prompt over the request’s', async () => {
      const { alice } = world;
      const prompt = async (content: string) =>
        ((await replyOf(alice.post('/api/create_prompt', { name: content, content }))).body as { id: string }).id;
      const [mine, yours] = [await prompt('Speak like {{ passthrough.who }}.'), await prompt('Speak like nobody.')];
      const keyed = await world.agent({ prompt_id: mine });
      const named = await world.agent({ prompt_id: yours });
      await ask({ api_key: keyed.key, agent_id: named.id, prompt_id: yours, passthrough: { who: 'a pirate' } });
      expect(told()[0]).toEqual({ role: 'system', content: 'Speak like a pirate.' });
      await ask({ agent_id: named.id });
      expect(told()[0]!.content).toContain('Speak like nobody.');
      await ask({ prompt_id: mine, passthrough: { who: 'a child' } });
      expect(told()[0]).toEqual({ role: 'system', content: 'Speak like a child.' });
    });

    it('with a schema sends one structured answer instead of chunks', async () => {
      const schema = { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] };
      const { key } = await world.agent({ json_schema: schema });
      world.model.always(say('{"why":', '"light"}'));
      const { frames } = await ask({ api_key: key });
      expect(frames.map(({ data }) => data.type)).toEqual([
        'message_id',
        'source',
        'tool_calls',
        'structured_answer',
        'id',
        'end',
      ]);
      const structured = frames[3]!.data;
      expect(structured).toMatchObject({ answer: '{"why":"light"}', structured: true, schema: { required: ['why'] } });
      expect(await answer({ api_key: key })).toMatchObject({
        answer: '{"why":"light"}',
        structured: true,
        schema: structured['schema'],
      });
      world.model.always(say('{"because":', '"light"}'));
      const failed = await ask({ api_key: key });
      expect(failed.frames.map(({ data }) => data.type)).toEqual(['message_id', 'error', 'id', 'end']);
    });
  });

  describe('visibility', () => {
    it('shows a conversation in the sidebar only if it is "listed"', async () => {
      const visible = conversationIdIn(await ask({ visibility: 'listed' }));
      const hidden: string[] = [];
      for (const visibility of [undefined, null, 'hidden', 'LISTED', '', 5, true]) {
        hidden.push(conversationIdIn(await ask({ visibility, save_conversation: true })));
      }
      await eventually(async () => (await listed()).includes(visible));
      expect((await listed()).filter((id) => hidden.includes(id))).toEqual([]);
      for (const id of hidden) expect((await conversation(id)).queries).toHaveLength(1);
    });
  });

  describe('the first frame', () => {
    it('has no conversation id in a new conversation, and its id in an existing one', async () => {
      const first = await ask({});
      const conversation_id = conversationIdIn(first);
      expect(first.frames[0]!.data).toEqual({
        type: 'message_id',
        message_id: messageIdIn(first),
        conversation_id: null,
        request_id: first.headers.get('x-request-id'),
      });
      expect((await ask({ conversation_id })).frames[0]!.data['conversation_id']).toBe(conversation_id);
    });
  });

  it('reasoning is sent in thought frames, and stored as the answer’s thought', async () => {
    world.model.always([...think('Hm. ', 'Light?'), ...say('Light.')]);
    const { frames } = await ask({});
    const shown = frames.filter(({ data }) => data.type === 'thought' || data.type === 'answer').map(({ data }) => data);
    expect(withoutRepeats(shown.map(({ type }) => type))).toEqual(['thought', 'answer']);
    expect(shown.map(({ thought = '' }) => String(thought)).join('')).toBe('Hm. Light?');
    expect(await answer({})).toMatchObject({ answer: 'Light.', thought: 'Hm. Light?' });
  });

  it('a field that is null is treated as absent', async () => {
    const nulls = { api_key: null, agent_id: null, conversation_id: null, history: null, model_id: null, passthrough: null };
    const more = { prompt_id: null, active_docs: null, retriever: null, chunks: null, isNoneDoc: null, index: null };
    const { frames } = await ask({ ...nulls, ...more, attachments: null, tool_actions: null, unheard_of: 5 });
    expect(frames.at(-1)!.data.type).toBe('end');
  });
}
