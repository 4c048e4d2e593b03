import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, type Client, conversationIdIn, messageIdIn, recordsIn, type Streamed, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { hang, say } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const NOT_FOUND = { success: false, message: 'Not found' };

/** Who may read a message, and from which cursor. */
export function readersStory(makeBacking: MakeBacking): void {
  let world: World;
  let asked: Streamed;
  let askedWithKey: Streamed;
  let key: string;
  let otherKey: string;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    key = (await world.agent()).key;
    otherKey = (await world.agent()).key;
    asked = await world.alice.stream({ question: 'Why?' });
    askedWithKey = await world.nobody.stream({ question: 'Why?', api_key: key });
  });
  afterAll(() => world.close());

  const events = (id: string, client: Client, more = '', headers = {}) =>
    client.get(`/api/messages/${id}/events${more}`, headers);

  describe('a message', () => {
    it('is read by the owner of its conversation, whoever asked', async () => {
      for (const message of [asked, askedWithKey]) {
        expect(recordsIn((await streamed(await events(messageIdIn(message), world.alice))).text)).toBe(message.text);
      }
    });

    it('is read with the key that it was asked with, in query or header', async () => {
      const { nobody, bob } = world;
      const id = messageIdIn(askedWithKey);
      for (const response of [
        await events(id, nobody, `?api_key=${key}`),
        await events(id, nobody, '', { 'x-api-key': key }),
        await events(id, bob, `?api_key=${key}`),
      ]) {
        expect(recordsIn((await streamed(response)).text)).toBe(askedWithKey.text);
      }
    });

    it.each(['events', 'tail', 'digest', 'cancel'])('does not exist for other users or with an unknown id: %s', async (route) => {
      const { alice, bob, nobody } = world;
      const call = (client: Client, id: string, more = '') =>
        replyOf(
          route === 'cancel'
            ? client.post(`/api/messages/${id}/cancel${more}`, {})
            : client.get(`/api/messages/${id}/${route}${more}`),
        );
      const replies = [
        await call(alice, UNKNOWN),
        await call(alice, 'not-an-id'),
        await call(bob, messageIdIn(asked)),
        await call(bob, messageIdIn(askedWithKey)),
        await call(nobody, messageIdIn(asked), `?api_key=${key}`),
        await call(nobody, messageIdIn(askedWithKey), `?api_key=${otherKey}`),
      ];
      for (const { status, body } of replies) expect({ status, body }).toEqual({ status: 404, body: NOT_FOUND });
    });

    it.each(['events', 'tail', 'digest', 'cancel'])('requires a credential: %s', async (route) => {
      const call = (headers: Record<string, string>) => {
        const path = `/api/messages/${messageIdIn(asked)}/${route}`;
        return replyOf(route === 'cancel' ? world.nobody.post(path, {}, headers) : world.nobody.get(path, headers));
      };
      expect(await call({})).toMatchObject({ status: 401, body: { success: false, message: 'Unauthorized' } });
      expect(await call({ 'x-api-key': UNKNOWN })).toMatchObject({
        status: 401,
        body: { success: false, message: 'Invalid API key' },
      });
      expect(await call({ authorization: 'Bearer nonsense', 'x-api-key': key })).toMatchObject({
        status: 401,
        body: { success: false, error: 'invalid_token' },
      });
    });

    it('is gone with its conversation, at once and for every reader', async () => {
      const { alice, nobody } = world;
      const message = await alice.stream({ question: 'Why?', api_key: key });
      const id = messageIdIn(message);
      const conversationId = conversationIdIn(message);
      expect((await events(id, alice)).status).toBe(200);
      expect((await alice.post(`/api/delete_conversation?id=${conversationId}`, {})).status).toBe(200);
      for (const route of ['events', 'tail', 'digest']) {
        expect((await replyOf(alice.get(`/api/messages/${id}/${route}`))).status).toBe(404);
        expect((await replyOf(nobody.get(`/api/messages/${id}/${route}?api_key=${key}`))).status).toBe(404);
      }
    });

    it('is summed up in its tail, for clients that poll', async () => {
      const tail = await world.alice.json(`/api/messages/${messageIdIn(asked)}/tail`);
      expect(tail).toEqual({
        message_id: messageIdIn(asked),
        status: 'complete',
        response: answerIn(asked),
        thought: '',
        sources: [],
        tool_calls: [],
        request_id: asked.frames[0]!.data['request_id'],
        last_heartbeat_at: expect.any(String),
        error: null,
      });
    });
  });

  describe('a cursor', () => {
    const rest = async (cursor: string) => {
      const reply = await replyOf(events(messageIdIn(asked), world.alice, '', { 'last-event-id': cursor }));
      const byQuery = await replyOf(events(messageIdIn(asked), world.alice, `?last_event_id=${encodeURIComponent(cursor)}`));
      expect({ status: byQuery.status, text: byQuery.text }).toEqual({ status: reply.status, text: reply.text });
      return reply;
    };
    const after = (id: number) => asked.text.slice(asked.text.indexOf(`id: ${id + 1}\n`));

    it('is exclusive, and an absent or empty one means the start', async () => {
      expect((await replyOf(events(messageIdIn(asked), world.alice))).text).toBe(`: connected\n\n${asked.text}`);
      expect((await rest('')).text).toBe(`: connected\n\n${asked.text}`);
      expect((await rest('0')).text).toBe(`: connected\n\n${after(0)}`);
      expect((await rest('2')).text).toBe(`: connected\n\n${after(2)}`);
      expect((await rest('002')).text).toBe(`: connected\n\n${after(2)}`);
    });

    it('at or past the end of a finished message returns nothing more, and ends', async () => {
      const last = asked.frames.at(-1)!.id;
      for (const cursor of [last, last + 1, 1_000_000, '9'.repeat(30)]) {
        expect((await rest(String(cursor))).text).toBe(': connected\n\n: up-to-date\n\n');
      }
    });

    it.each(['-1', '1.5', 'abc', '1e3', '0x1', ' ', '1 2', '١', 'null', '1;2'])(
      'is refused if it is not a whole number: "%s"',
      async (cursor) => {
        const reply = await replyOf(events(messageIdIn(asked), world.alice, `?last_event_id=${encodeURIComponent(cursor)}`));
        expect({ status: reply.status, body: reply.body }).toEqual({
          status: 400,
          body: { success: false, message: 'last_event_id must be a whole number, 0 or more.' },
        });
      },
    );

    it('in the header takes precedence over one in the query', async () => {
      const reply = await replyOf(events(messageIdIn(asked), world.alice, '?last_event_id=0', { 'last-event-id': '2' }));
      expect(reply.text).toBe(`: connected\n\n${after(2)}`);
    });

    it('past the end of a running message waits for its end, with keepalive comments', async () => {
      const { alice, model, service } = world;
      await service.restart({ SSE_KEEPALIVE_SECONDS: '0.2' });
      model.next([...say('The ', 'sky'), hang]);
      let id = '';
      let isKeptAlive = false;
      const running = alice.stream({ question: 'Why?' }, (text) => {
        id ||= /"message_id":"([^"]+)"/.exec(text)?.[1] ?? '';
        isKeptAlive ||= text.includes(': keepalive\n\n');
        return false;
      });
      await eventually(() => id !== '');
      const past = alice.resume(id, 1_000);
      const here = alice.resume(id, 0);
      await eventually(async () => (await alice.json(`/api/messages/${id}/tail`))['response'] === 'The sky');
      await eventually(() => isKeptAlive);
      expect((await alice.post(`/api/messages/${id}/cancel`, {})).status).toBe(202);
      const all = await running;
      expect(all.frames.at(-1)!.data['code']).toBe('stopped');
      expect((await past).frames).toEqual([]);
      expect((await here).frames).toEqual(all.frames.slice(1));
      await service.restart();
    });
  });
}
