import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { openWorld, replyOf, type World } from '../support/world.js';

/** Tabs report what they show. New answers there are not marked. */
export function presenceStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(() => world.close());

  const report = (body: unknown, by = world.alice) => replyOf(by.post('/api/presence', body));
  const markOf = async (id: string): Promise<unknown> => {
    const listed = (await (await world.alice.get('/api/get_conversations')).json()) as { id: string; mark: unknown }[];
    return listed.find((each) => each.id === id)?.mark;
  };
  /** Asks a question and disconnects before the end of its answer. */
  const askedAndLeft = async (conversation_id?: string): Promise<string> => {
    const left = new AbortController();
    const asked = { question: 'When is tea?', visibility: 'listed', ...(conversation_id && { conversation_id }) };
    const response = await world.alice.post('/stream', asked, {}, left.signal);
    let text = '';
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    while (!text.includes('message_id')) text += decoder.decode((await reader.read()).value as Uint8Array);
    left.abort();
    return text;
  };

  it('a new answer is marked unless a visible tab shows its conversation', async () => {
    const first = await world.alice.stream({ question: 'When is tea?', visibility: 'listed' });
    const id = conversationIdIn(first);
    const other = conversationIdIn(await world.alice.stream({ question: 'When is cocoa?', visibility: 'listed' }));
    expect((await report({ tab_id: 'tab-1', conversation_id: id, visible: true })).body).toEqual({ success: true, stored: true });
    await askedAndLeft(id);
    await askedAndLeft(other);
    await world.quietHead();
    await eventually(async () => (await markOf(other)) === 'unread');
    await eventually(async () => (await markOf(id)) === null);
  });

  it('a hidden, closing or closed tab shows nothing', async () => {
    const id = conversationIdIn(await world.alice.stream({ question: 'When is tea?', visibility: 'listed' }));
    for (const end of [{ visible: false }, { visible: true, closing: true }]) {
      await report({ tab_id: 'tab-1', conversation_id: id, visible: true });
      const { body } = await report({ tab_id: 'tab-1', conversation_id: id, ...end });
      expect(body).toEqual({ success: true, stored: false });
    }
    await askedAndLeft(id);
    await world.quietHead();
    await eventually(async () => (await markOf(id)) === 'unread');
  });

  it('is stored only for the user’s own conversations', async () => {
    const id = conversationIdIn(await world.alice.stream({ question: 'When is tea?', visibility: 'listed' }));
    const reported = { tab_id: 'tab-1', conversation_id: id, visible: true };
    expect((await report(reported, world.bob)).body).toEqual({ success: true, stored: false });
    expect((await report({ ...reported, conversation_id: null })).body).toEqual({ success: true, stored: false });
  });

  it('is accepted as a beacon of plain text', async () => {
    const id = conversationIdIn(await world.alice.stream({ question: 'When is tea?', visibility: 'listed' }));
    const body = JSON.stringify({ tab_id: 'tab-1', conversation_id: id, visible: true });
    const sent = { method: 'POST', headers: { 'content-type': 'text/plain' }, body };
    expect((await replyOf(world.alice.request('/api/presence', sent))).body).toEqual({ success: true, stored: true });
  });

  it.each([
    ['no body', 'hello', 'A JSON body is required'],
    ['no tab', { visible: true }, 'tab_id is required'],
    ['an invalid tab id', { tab_id: 'a b', visible: true }, 'tab_id is required'],
    ['an invalid conversation id', { tab_id: 'a', conversation_id: 7, visible: true }, 'conversation_id must be'],
    ['no visibility', { tab_id: 'a' }, 'visible and closing must be booleans'],
  ])('with %s is refused', async (_, body, message) => {
    const sent = { method: 'POST', headers: { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' } };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await replyOf(world.alice.request('/api/presence', { ...sent, body: text }));
    expect([reply.status, reply.body]).toEqual([400, { success: false, message: expect.stringContaining(message) }]);
  });

  describe('web push', () => {
    it('reports that it is not configured', async () => {
      const key = await replyOf(world.alice.get('/api/push/public_key'));
      expect([key.status, key.body]).toEqual([200, { enabled: false, public_key: null }]);
      const refused = { success: false, message: 'Web Push is not configured on this server', error: 'push_not_configured' };
      const subscribed = await replyOf(world.alice.post('/api/push/subscriptions', { endpoint: 'https://push.example' }));
      expect([subscribed.status, subscribed.body]).toEqual([503, refused]);
      const ended = await replyOf(world.alice.delete('/api/push/subscriptions?endpoint=https://push.example'));
      expect([ended.status, ended.body]).toEqual([503, refused]);
    });
  });
}
