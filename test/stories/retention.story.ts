import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, Client, conversationIdIn, messageIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const SECONDS_IN_DAYS = String(8 / 86_400);

/** What remains of an answer when its journal has expired, and of the service without its realtime routes. */
export function retentionStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ MESSAGE_EVENTS_RETENTION_DAYS: SECONDS_IN_DAYS }, makeBacking);
  });
  afterAll(() => world.close());

  describe('an answer whose journal has expired', () => {
    const EXPIRED = {
      success: false,
      message: expect.any(String),
      error: 'journal_expired',
    };

    it('is 410 for those who may read it, 404 for all others, and remains in the conversation', async () => {
      const { alice, bob, nobody, agent } = world;
      const { key } = await agent();
      const stream = await nobody.stream({ question: 'Why?', api_key: key });
      const id = messageIdIn(stream);
      const before = await alice.json(`/api/messages/${id}/tail`);
      expect(before).toMatchObject({ status: 'complete', response: answerIn(stream) });
      await eventually(async () => (await alice.get(`/api/messages/${id}/events`)).status === 410);

      for (const route of ['events', 'digest']) {
        for (const response of [
          alice.get(`/api/messages/${id}/${route}`),
          nobody.get(`/api/messages/${id}/${route}?api_key=${key}`),
        ]) {
          const { status, body } = await replyOf(response);
          expect({ status, body }).toEqual({ status: 410, body: EXPIRED });
        }
        expect((await bob.get(`/api/messages/${id}/${route}`)).status).toBe(404);
      }
      const late = await replyOf(alice.get(`/api/messages/${id}/events?last_event_id=3`));
      expect([late.status, late.body]).toEqual([410, EXPIRED]);
      const { last_heartbeat_at: _, ...tail } = before;
      expect(await alice.json(`/api/messages/${id}/tail`)).toMatchObject(tail);
      expect(await replyOf(alice.post(`/api/messages/${id}/cancel`, {}))).toMatchObject({
        status: 409,
        body: { error: 'message_not_running' },
      });
      const { queries } = await alice.json<{ queries: { response: string }[] }>(
        `/api/get_single_conversation?id=${conversationIdIn(stream)}`,
      );
      expect(queries[0]!.response).toBe(answerIn(stream));
    });

    it('is 404 for clients of OpenAI’s API, on every route, and never 410', async () => {
      const { key } = await world.agent();
      const by = new Client(world.service.url, { authorization: `Bearer ${key}` });
      const { body } = await replyOf(by.post('/v1/responses', { input: 'Why?' }));
      const path = `/v1/responses/${(body as Readonly<{ id: string }>).id}`;
      let status = 200;
      await eventually(async () => (status = (await by.get(path)).status) !== 200);
      expect(status).toBe(404);
      for (const gone of [
        by.get(path),
        by.get(`${path}?stream=true`),
        by.get(`${path}/input_items`),
        by.post(`${path}/cancel`, {}),
        by.delete(path),
      ])
        expect(await replyOf(gone)).toMatchObject({ status: 404, body: { error: { type: 'not_found_error' } } });
      const goingOn = by.post('/v1/responses', { input: 'And?', previous_response_id: path.split('/').at(-1) });
      expect(await replyOf(goingOn)).toMatchObject({ status: 400, body: { error: { code: 'previous_response_not_found' } } });
    });

    it('is deleted with its conversation', async () => {
      const { alice } = world;
      const stream = await alice.stream({ question: 'Why?' });
      const id = messageIdIn(stream);
      await eventually(async () => (await alice.get(`/api/messages/${id}/events`)).status === 410);
      await alice.post(`/api/delete_conversation?id=${conversationIdIn(stream)}`, {});
      expect((await alice.get(`/api/messages/${id}/events`)).status).toBe(404);
      expect((await alice.get(`/api/messages/${id}/tail`)).status).toBe(404);
    });
  });

  describe('a plain server', () => {
    it('has no realtime routes, and answers as usual', async () => {
      await world.service.restart({ SERVER_MODE: 'plain' });
      const { alice } = world;
      const stream = await alice.stream({ question: 'Why?' });
      expect(stream.frames.at(-1)!.data.type).toBe('end');
      const { status, body } = await replyOf(alice.get(`/api/messages/${messageIdIn(stream)}/events`));
      expect({ status, body }).toEqual({ status: 404, body: { success: false, message: 'Not found' } });
      expect((await alice.get(`/api/messages/${messageIdIn(stream)}/tail`)).status).toBe(200);
    });
  });
}
