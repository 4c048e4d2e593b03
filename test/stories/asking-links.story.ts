import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { answerIn, conversationIdIn, messageIdIn, recordsIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { say } from '../support/scripted-model-server.js';
import { addedSource } from '../support/sources.js';
import { replyOf, type World } from '../support/world.js';

/** Two processes over one log, or one as both: where readers ask, and where links are made and ended. */
export type AskingPlaces = Readonly<{ asks: World; changes: World; close(): Promise<void> }>;

/** The quota of a link in 24 hours. */
export const QUOTA = { SHARED_LINK_MAX_REQUESTS_PER_DAY: '4', SHARED_LINK_MAX_TOKENS_PER_DAY: '1000000' };

/** Links to conversations whose readers may ask: what readers may do, who pays, and what they never reach. */
export function askingLinksStory(open: () => Promise<AskingPlaces>): void {
  let places: AskingPlaces;
  let world: World;
  beforeAll(async () => {
    places = await open();
    world = places.asks;
  });
  afterAll(() => places.close());
  beforeEach(() => world.model.reset());

  const asked = async (fields: object = {}, by = world.alice): Promise<string> => {
    world.model.next(say('Tea is at four.'));
    return conversationIdIn(await by.stream({ question: 'When is tea?', visibility: 'listed', ...fields }));
  };
  const share = (conversation_id: string, fields: object = {}, by = places.changes.alice) =>
    replyOf(by.post('/api/share?isPromptable=true', { conversation_id, prompt_id: 'default', chunks: '2', ...fields }));
  const tokenOf = async (conversationId: string, fields: object = {}): Promise<string> => {
    const { status, body } = await share(conversationId, fields);
    expect([status, body]).toEqual([201, { success: true, identifier: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    const { identifier } = body as { identifier: string };
    await eventually(async () => (await world.nobody.get(`/api/shared_conversation/${identifier}`)).status === 200);
    return identifier;
  };
  const ask = (token: string, fields: object = {}) => world.nobody.stream({ question: 'And cake?', api_key: token, ...fields });
  const refused = (token: string, fields: object = {}) =>
    replyOf(world.nobody.post('/api/answer', { question: 'And cake?', api_key: token, ...fields }));

  it('answer any reader, and the next reader does not find the question', async () => {
    const id = await asked();
    const token = await tokenOf(id);
    const shown = await world.nobody.json<object>(`/api/shared_conversation/${token}`);
    expect(shown).toMatchObject({ success: true, title: 'When is tea?', api_key: token });
    world.model.next(say('At five.'));
    const history = JSON.stringify([{ prompt: 'When is tea?', response: 'Tea is at four.' }]);
    const answer = await ask(token, { history, save_conversation: false, visibility: 'listed' });
    expect(answerIn(answer)).toBe('At five.');
    expect(JSON.stringify(world.model.requests.at(-1)!.body.messages)).toContain('Tea is at four.');
    expect(await world.nobody.json<object>(`/api/shared_conversation/${token}`)).toEqual(shown);
    const listed = await world.alice.json<{ id: string }[]>('/api/get_conversations');
    expect(listed.map((each) => each.id)).not.toContain(conversationIdIn(answer));
  });

  it('answer with a single object too, and continue what their readers started', async () => {
    const token = await tokenOf(await asked());
    world.model.next(say('At five.'));
    const { status, body } = await replyOf(world.nobody.post('/api/answer', { question: 'And cake?', api_key: token }));
    expect([status, body]).toMatchObject([200, { answer: 'At five.' }]);
    const { conversation_id } = body as { conversation_id: string };
    world.model.next(say('Carrot.'));
    expect(answerIn(await ask(token, { conversation_id }))).toBe('Carrot.');
    expect(JSON.stringify(world.model.requests.at(-1)!.body.messages)).toContain('At five.');
  });

  it('replay the questions of their readers, byte for byte, and not for another link', async () => {
    const id = await asked();
    const [token, other] = [await tokenOf(id), await tokenOf(await asked())];
    world.model.next(say('At five.'));
    const answer = await ask(token);
    const path = `/api/messages/${messageIdIn(answer)}/events`;
    expect(recordsIn(await (await world.nobody.get(`${path}?api_key=${token}`)).text())).toBe(recordsIn(answer.text));
    expect((await world.nobody.get(`${path}?api_key=${other}`)).status).toBe(404);
    expect((await world.nobody.get(path)).status).toBe(401);
  });

  it('open no conversations except those that their readers started', async () => {
    const agent = await world.agent();
    const id = await asked({ agent_id: agent.id });
    const messages = (await world.alice.json<{ queries: { message_id: string }[] }>(`/api/get_single_conversation?id=${id}`))
      .queries;
    const token = await tokenOf(id);
    const ofKey = conversationIdIn(await world.nobody.stream({ question: 'Why?', api_key: agent.key }));
    for (const conversation_id of [id, ofKey, newId()])
      expect(await refused(token, { conversation_id })).toMatchObject({
        status: 404,
        body: { error: 'Conversation not found' },
      });
    expect((await world.nobody.get(`/api/messages/${messages[0]!.message_id}/events?api_key=${token}`)).status).toBe(404);
    world.model.next(say('At five.'));
    const ofLink = conversationIdIn(await ask(token));
    const byKey = await replyOf(
      world.nobody.post('/stream', { question: 'Me too', api_key: agent.key, conversation_id: ofLink }),
    );
    expect(byKey.status).toBe(404);
  });

  it.each([
    ['POST', '/api/search', { question: 'tea' }],
    ['POST', '/api/feedback', { feedback: 'like', conversation_id: newId(), question_index: 0 }],
    ['GET', '/api/artifacts', undefined],
    ['GET', '/api/get_conversations', undefined],
    ['GET', '/v1/models', undefined],
  ] as const)('open nothing else: %s %s', async (method, path, body) => {
    const token = await tokenOf(await asked());
    const key = { 'x-api-key': token, authorization: path.startsWith('/v1') ? `Bearer ${token}` : '' };
    const { status } = await world.nobody.request(path, {
      method,
      headers: { ...key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(status).toBe(401);
  });

  it('call no tools, whatever the conversation’s agent has', async () => {
    const tool = { name: 'ntfy', displayName: 'Phone', description: 'Mine', config: { token: 'secret' }, status: true };
    const { id: toolId } = (await (await world.alice.post('/api/create_tool', tool)).json()) as { id: string };
    const agent = await world.agent({ tools: [toolId] });
    const id = await asked({ agent_id: agent.id });
    expect(world.model.requests.at(-1)!.body.tools).toBeDefined();
    world.model.next(say('At five.'));
    await ask(await tokenOf(id));
    expect(world.model.requests.at(-1)!.body.tools).toBeUndefined();
  });

  it('answer with the source and prompt of the owner, and not with those that a reader names', async () => {
    const [source, other] = [
      await addedSource(world.alice, 'Teas', 'Cake is at six.'),
      await addedSource(world.alice, 'Pay', 'Cake costs'),
    ];
    const prompt = await replyOf(world.alice.post('/api/create_prompt', { name: 'Mine', content: 'Rhyme. {summaries}' }));
    const { id: prompt_id } = prompt.body as { id: string };
    const token = await tokenOf(await asked(), { source, prompt_id });
    world.model.next(say('At six.'));
    const { frames } = await ask(token, { active_docs: other, prompt_id: 'creative', passthrough: { a: 1 } });
    const sent = JSON.stringify(world.model.requests.at(-1)!.body.messages);
    expect([sent.includes('Rhyme.'), sent.includes('Cake is at six.'), sent.includes('Cake costs')]).toEqual([true, true, false]);
    expect(JSON.stringify(frames.find(({ data }) => data.type === 'source')?.data)).toContain('Cake is at six.');
  });

  it('refuse tools and files of readers', async () => {
    const token = await tokenOf(await asked());
    const client_tools = [{ type: 'function', function: { name: 'mine', parameters: { type: 'object', properties: {} } } }];
    expect(await refused(token, { client_tools })).toMatchObject({
      status: 400,
      body: { error: 'Readers of a link bring no tools and no files along.' },
    });
    expect((await ask(token, { attachments: [newId()] })).status).toBe(400);
  });

  it('have their own quota, which the owner and other links do not share', async () => {
    const id = await asked();
    const token = await tokenOf(id);
    for (let count = 0; count < Number(QUOTA.SHARED_LINK_MAX_REQUESTS_PER_DAY); count++) {
      world.model.next(say('At five.'));
      expect((await ask(token)).status).toBe(200);
    }
    const { status, body, headers } = await refused(token);
    expect([status, body]).toMatchObject([429, { error: 'Exceeding usage limit, please try again later.' }]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(86_000);
    world.model.next(say('At five.'));
    expect((await ask(await tokenOf(await asked()))).status).toBe(200);
    await asked({ conversation_id: id });
  });

  it('are reused for the same content and terms', async () => {
    const id = await asked();
    const identifier = await tokenOf(id);
    expect(await share(id)).toMatchObject({ status: 200, body: { success: true, identifier } });
    expect((await share(id, { chunks: '3' })).status).toBe(201);
    await asked({ conversation_id: id });
    expect((await share(id)).status).toBe(201);
  });

  describe('end', () => {
    it.each([
      ['when the owner ends them', (_: string, token: string) => places.changes.alice.delete(`/api/share?identifier=${token}`)],
      ['with the conversation', (id: string) => places.changes.alice.post(`/api/delete_conversation?id=${id}`, {})],
    ])('%s', async (_, end) => {
      const id = await asked();
      const token = await tokenOf(id);
      world.model.next(say('At five.'));
      const message = messageIdIn(await ask(token));
      expect((await end(id, token)).status).toBe(200);
      await eventually(async () => (await refused(token)).status === 401);
      expect((await refused(token)).body).toMatchObject({ error: 'Invalid API key' });
      expect((await world.nobody.get(`/api/messages/${message}/events?api_key=${token}`)).status).toBe(401);
    });
  });

  describe('are refused', () => {
    it('to users who do not own the conversation', async () => {
      expect((await share(await asked(), {}, places.changes.bob)).status).toBe(404);
    });

    it.each([
      [{ source: newId() }, 404],
      [{ prompt_id: newId() }, 404],
      [{ chunks: '-1' }, 400],
      [{ chunks: 501 }, 400],
    ])('with %j', async (fields, status) => expect((await share(await asked(), fields)).status).toBe(status));

    it('with resources of another user', async () => {
      const source = await addedSource(world.bob, 'His', 'Secret.');
      expect((await share(await asked(), { source })).status).toBe(404);
    });

    it('if the agent is another user’s, even if a team lets the user ask it', async () => {
      const agent = await world.agent({}, world.bob);
      const { body } = await replyOf(world.bob.post('/api/teams', { name: 'Support' }));
      const { id: teamId } = (body as { team: { id: string } }).team;
      await world.bob.post(`/api/teams/${teamId}/members`, { user_id: await world.idOf('alice'), role: 'team_member' });
      await world.bob.post(`/api/teams/${teamId}/grants`, { resource_type: 'agent', resource_id: agent.id });
      await eventually(async () => (await world.alice.get(`/api/get_agent?id=${agent.id}`)).status === 200);
      const id = await asked({ agent_id: agent.id });
      expect(await share(id)).toMatchObject({
        status: 403,
        body: { message: 'Only the owner of an agent may let readers ask it' },
      });
    });
  });

  it('store no token in the log, which names the link as the actor', async () => {
    const token = await tokenOf(await asked());
    world.model.next(say('At five.'));
    const conversation = conversationIdIn(await ask(token));
    const actors = new Set<string>();
    for await (const page of world.backing.store.readAll({ after: -1n }))
      for (const { data, metadata, stream } of page.events) {
        expect(`${data}${metadata}`).not.toContain(token);
        if (stream === `conversation-${conversation}`)
          actors.add((JSON.parse(metadata) as { actor: string }).actor.replace(/:.*/, ''));
      }
    expect([...actors]).toContain('link');
  });
}
