import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { type Client, conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { askAndLeave } from '../support/left-answers.js';
import { cut, hang, say } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const NOT_FOUND = { status: 404, body: { success: false, message: 'Conversation not found' } };

type Listed = Readonly<{ id: string; name: string; date: string; unread: boolean; mark: string | null }>;
type Found = Listed & Readonly<{ match_field: string; match_snippet: string }>;

/** A user's conversations: list, search, read, rename, rate and delete. */
export function conversationsStory(makeBacking: MakeBacking): void {
  let world: World;
  let reader: Client;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    reader = await world.as('reader');
  });
  afterAll(() => world.close());

  const ask = async (question: string, client = reader, more: object = {}) =>
    conversationIdIn(await client.stream({ question, visibility: 'listed', ...more }));
  const list = (query = '', client = reader) => client.json<Listed[]>(`/api/get_conversations${query}`);
  const search = (q: string, more = '') => reader.json<Found[]>(`/api/search_conversations?q=${encodeURIComponent(q)}${more}`);
  const post = async (path: string, body: object = {}, client = reader) => {
    const reply = await replyOf(client.post(path, body));
    return { status: reply.status, body: reply.body };
  };
  const OK = { status: 200, body: { success: true } };

  describe('the listing', () => {
    it('has everything that a sidebar shows, newest first, and only the user’s own', async () => {
      const client = await world.as('lister');
      const ids = [await ask('First?', client), await ask('Second?', client), await ask('Third?', client)];
      await ask('Not hers?', world.bob);
      const records = await list('', client);
      expect(records.map(({ id }) => id)).toEqual(ids.reverse());
      expect(records[0]).toEqual({
        id: ids[0],
        name: 'Third?',
        agent_id: null,
        is_shared_usage: false,
        shared_token: null,
        date: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        unread: false,
        mark: null,
      });
    });

    it('is returned in pages without repetitions or gaps', async () => {
      const client = await world.as('pager');
      const ids = [];
      for (let index = 0; index < 7; index++) ids.push(await ask(`Question ${index}`, client));
      const seen: string[] = [];
      for (let page = await list('?limit=3', client); page.length > 0;) {
        seen.push(...page.map(({ id }) => id));
        const { date, id } = page.at(-1)!;
        page = await list(`?limit=3&before=${encodeURIComponent(date)}&before_id=${id}`, client);
      }
      expect(seen).toEqual(ids.reverse());
      expect(await list('?limit=0', client)).toHaveLength(1);
      expect(await list('?limit=1000', client)).toHaveLength(7);
      expect(await list('?limit=many', client)).toHaveLength(7);
      expect(await list('?limit=&before=', client)).toHaveLength(7);
      for (const before of ['yesterday', '0000-01-01T00:00:00Z', '%2B275760-09-13']) {
        const { status, body } = await replyOf(client.get(`/api/get_conversations?before=${before}`));
        expect([status, body]).toEqual([400, { success: false, message: expect.stringMatching(/^before must be a date/) }]);
      }
      const { id: named } = (await list('?limit=1', client))[0]!;
      const blank = await replyOf(client.post('/api/update_conversation_name', { id: named, name: ' \n ' }));
      expect([blank.status, blank.body]).toEqual([400, { success: false, message: 'name must not be blank' }]);
    });

    it('marks the outcome of the last answer until the conversation is opened', async () => {
      const client = await world.as('marker');
      const markOf = async (id: string) => {
        const { unread, mark } = (await list('', client)).find((each) => each.id === id)!;
        return [unread, mark];
      };
      const { conversationId: answered } = await askAndLeave(world, client, { question: 'Works?' }, say('Whole'));
      const { conversationId: failed } = await askAndLeave(world, client, { question: 'Fails?' }, [cut]);
      await eventually(async () => (await markOf(answered))[1] === 'unread' && (await markOf(failed))[1] === 'failed');
      expect([(await markOf(answered))[0], (await markOf(failed))[0]]).toEqual([true, true]);
      expect(await post(`/api/conversations/${answered}/read`, {}, client)).toMatchObject(OK);
      expect(await client.json(`/api/get_single_conversation?id=${failed}`)).toMatchObject({ queries: [{ status: 'failed' }] });
      expect([await markOf(answered), await markOf(failed)]).toEqual([
        [false, null],
        [false, null],
      ]);
      world.model.next([...say('Half'), hang]);
      let messageId = '';
      const running = client.stream({ question: 'Runs?', conversation_id: answered }, (text) => {
        messageId ||= /"message_id":"([^"]+)"/.exec(text)?.[1] ?? '';
        return false;
      });
      await eventually(async () => messageId !== '' && (await markOf(answered))[1] === 'running');
      expect((await post(`/api/messages/${messageId}/cancel`, {}, client)).status).toBe(202);
      await running;
      await eventually(async () => (await markOf(answered))[1] === null);
    });
  });

  describe('an answer that its owner reads to its end', () => {
    it('is listed, read, and not running as soon as its last frame arrives', async () => {
      const client = await world.as('watcher');
      for (let count = 0; count < 10; count++) {
        const id = await ask(`Question ${count}?`, client);
        const [conversations, activity] = await Promise.all([
          list('?limit=1', client),
          client.json<{ running: unknown[]; conversations: unknown[] }>('/api/activity/now'),
        ]);
        expect(conversations).toMatchObject([{ id, unread: false, mark: null }]);
        expect([activity.running, activity.conversations]).toEqual([[], []]);
      }
    });

    it('is read too when it is replayed later, and when it failed', async () => {
      const client = await world.as('returner');
      const { conversationId, messageId } = await askAndLeave(world, client, { question: 'Works?' }, say('Whole'));
      const markOf = async (id: string) => (await list('', client)).find((each) => each.id === id)!.mark;
      await eventually(async () => (await markOf(conversationId)) === 'unread');
      expect((await client.resume(messageId)).frames.at(-1)!.data.type).toBe('end');
      expect(await markOf(conversationId)).toBeNull();
      world.model.next([...say('Half'), cut]);
      const failed = await ask('Fails?', client);
      expect(await markOf(failed)).toBeNull();
    });
  });

  describe('the search', () => {
    it('covers names, questions and answers, ignores case, and says where it matched', async () => {
      world.model.next(say('Because of Rayleigh scattering.'));
      const conversation_id = await ask('Why is the SKY blue?');
      await reader.stream({ question: 'And the 100% sure colour_of sunsets?', conversation_id });
      await post('/api/update_conversation_name', { id: conversation_id, name: 'Colours of the day' });
      const found = async (q: string) => (await search(q)).filter(({ id }) => id === conversation_id);
      expect(await found('colours OF')).toEqual([
        expect.objectContaining({ match_field: 'name', match_snippet: 'Colours of the day' }),
      ]);
      expect(await found('sky')).toEqual([
        expect.objectContaining({ match_field: 'prompt', match_snippet: 'Why is the SKY blue?' }),
      ]);
      expect(await found('rayleigh')).toEqual([
        expect.objectContaining({ match_field: 'response', match_snippet: 'Because of Rayleigh scattering.' }),
      ]);
      expect((await found('sky'))[0]).toMatchObject({ name: 'Colours of the day', unread: false, agent_id: null });
    });

    it('matches % and _ literally', async () => {
      expect((await search('100% sure')).length).toBe(1);
      expect((await search('colour_of')).length).toBe(1);
      expect(await search('100%sure')).toEqual([]);
      expect(await search('c_lour')).toEqual([]);
      expect(await search('\\')).toEqual([]);
    });

    it('requires a search text, and respects its limit', async () => {
      for (const query of ['', '?q=', '?q=%20%20']) {
        const reply = await replyOf(reader.get(`/api/search_conversations${query}`));
        expect([reply.status, reply.body]).toEqual([400, { success: false, message: 'q is required' }]);
      }
      await ask('Sky again?');
      expect((await search('sky')).length).toBe(2);
      expect(await search('sky', '&limit=1')).toHaveLength(1);
    });

    it('finds nothing of other users, nothing hidden and nothing superseded', async () => {
      await ask('A zebra?', world.bob);
      await ask('A hidden zebra?', reader, { visibility: 'hidden' });
      const conversation_id = await ask('A replaced zebra?');
      await reader.stream({ question: 'A horse?', conversation_id, index: 0 });
      await post('/api/update_conversation_name', { id: conversation_id, name: 'Animals' });
      expect(await search('zebra')).toEqual([]);
    });
  });

  describe('one conversation', () => {
    it('is returned as a whole', async () => {
      const id = await ask('Why?');
      const { body } = await replyOf(reader.get(`/api/get_single_conversation?id=${id}`));
      expect(body).toEqual({
        name: 'Why?',
        agent_id: null,
        is_shared_usage: false,
        shared_token: null,
        queries: [
          {
            prompt: 'Why?',
            response: 'Hello from the script.',
            thought: '',
            sources: [],
            tool_calls: [],
            timestamp: expect.any(String),
            model_id: 'scripted',
            message_id: expect.any(String),
            status: 'complete',
            request_id: expect.any(String),
            last_heartbeat_at: expect.any(String),
          },
        ],
      });
    });

    it('is renamed by its owner', async () => {
      const id = await ask('Why?');
      expect(await post('/api/update_conversation_name', { id, name: 'Reasons 🌍' })).toEqual(OK);
      expect((await list()).find((each) => each.id === id)!.name).toBe('Reasons 🌍');
      const body = { success: false };
      for (const wrong of [{ id }, { id, name: '' }, { id, name: 5 }, { name: 'x' }, { id, name: 'x'.repeat(501) }])
        expect(await post('/api/update_conversation_name', wrong)).toMatchObject({ status: 400, body });
    });

    it('is rated by its owner and by callers with the key it was asked with', async () => {
      const { key } = await world.agent({}, reader);
      const conversation_id = await ask('Why?', reader, { api_key: key });
      const feedbackOf = async () =>
        (await reader.json<{ queries: Record<string, unknown>[] }>(`/api/get_single_conversation?id=${conversation_id}`))
          .queries[0]!;
      expect(await post('/api/feedback', { feedback: 'LIKE', conversation_id, question_index: 0 })).toEqual(OK);
      expect(await feedbackOf()).toMatchObject({ feedback: 'like', feedback_timestamp: expect.any(String) });
      const byKey = { feedback: 'dislike', conversation_id, question_index: 0, api_key: key };
      expect(await post('/api/feedback', byKey, world.nobody)).toEqual(OK);
      expect(await feedbackOf()).toMatchObject({ feedback: 'dislike' });
      expect(await post('/api/feedback', { feedback: null, conversation_id, question_index: 0 })).toEqual(OK);
      expect(await feedbackOf()).not.toHaveProperty('feedback');
      expect((await post('/api/feedback', { feedback: 'like', conversation_id, question_index: 7 })).status).toBe(404);
      for (const wrong of [
        { conversation_id },
        { conversation_id, question_index: -1 },
        { conversation_id, question_index: 'x' },
        { question_index: 0 },
      ])
        expect((await post('/api/feedback', { feedback: 'like', ...wrong })).status).toBe(400);
    });

    it('is gone permanently when it is deleted', async () => {
      const id = await ask('A walrus?');
      expect(await post(`/api/delete_conversation?id=${id}`)).toEqual(OK);
      expect((await list()).map((each) => each.id)).not.toContain(id);
      expect(await search('walrus')).toEqual([]);
      const calls = [
        replyOf(reader.get(`/api/get_single_conversation?id=${id}`)),
        post(`/api/delete_conversation?id=${UNKNOWN}`),
        post('/api/update_conversation_name', { id, name: 'x' }),
        post(`/api/conversations/${id}/read`),
        post('/api/feedback', { feedback: 'like', conversation_id: id, question_index: 0 }),
      ];
      for (const { status, body } of await Promise.all(calls)) expect({ status, body }).toEqual(NOT_FOUND);
    });

    it.each(['get', 'delete'] as const)('are gone when all are deleted, by %s', async (method) => {
      const client = await world.as(`clears-by-${method}`);
      for (const question of ['One', 'Two']) await client.stream({ question, visibility: 'listed' });
      await client.stream({ question: 'Hidden' });
      const listed = () => client.json<readonly unknown[]>('/api/get_conversations');
      expect(await listed()).toHaveLength(2);
      expect(await replyOf(client[method]('/api/delete_all_conversations'))).toMatchObject({
        status: 200,
        body: { success: true },
      });
      expect(await listed()).toEqual([]);
      expect((await world.nobody[method]('/api/delete_all_conversations')).status).toBe(401);
    });

    it('stops a running answer when it is deleted', async () => {
      let text = '';
      const id = await ask('Why?');
      world.model.next([...say('Half'), hang]);
      const running = reader.stream({ question: 'And then?', conversation_id: id }, (seen) => {
        text = seen;
        return false;
      });
      await eventually(() => text.includes('Half'));
      expect(await post(`/api/delete_conversation?id=${id}`)).toEqual(OK);
      expect((await running).frames.at(-1)!.data['code']).toBe('stopped');
    });

    it('cannot be seen or changed by other users', async () => {
      const id = await ask('Why?');
      const { bob } = world;
      const calls = (one: string, client: Client) => [
        replyOf(client.get(`/api/get_single_conversation?id=${one}`)),
        post(`/api/delete_conversation?id=${one}`, {}, client),
        post('/api/update_conversation_name', { id: one, name: 'x' }, client),
        post(`/api/conversations/${one}/read`, {}, client),
        post('/api/feedback', { feedback: 'like', conversation_id: one, question_index: 0 }, client),
      ];
      for (const { status, body } of await Promise.all([
        ...calls(id, bob),
        ...calls(UNKNOWN, reader),
        ...calls('not-an-id', reader),
      ])) {
        expect({ status, body }).toEqual(NOT_FOUND);
      }
      expect((await list()).map((each) => each.id)).toContain(id);
    });
  });

  it('every write returns its position, and a read can wait until that is visible', async () => {
    const stream = await reader.stream({ question: 'Position?', visibility: 'listed' });
    const position = stream.headers.get('x-position')!;
    expect(position).toMatch(/^\d+$/);
    const id = conversationIdIn(stream);
    const renamed = await reader.post('/api/update_conversation_name', { id, name: 'Here' });
    const after = renamed.headers.get('x-position')!;
    expect(BigInt(after)).toBeGreaterThan(BigInt(position));
    const listing = await reader.get('/api/get_conversations', { 'x-after-position': after });
    expect(((await listing.json()) as Listed[]).find((each) => each.id === id)!.name).toBe('Here');
    expect((await reader.get('/api/get_conversations', { 'x-after-position': 'soon' })).status).toBe(400);
  });
}
