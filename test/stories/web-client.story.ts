import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type AnsweringRoute, askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, conversationIdIn, messageIdIn, type Streamed } from '../support/client.js';
import { addedSource } from '../support/sources.js';
import { broken, say } from '../support/scripted-model-server.js';
import { openWorld, type World } from '../support/world.js';

const ROUTES: readonly AnsweringRoute[] = ['/stream', '/api/answer'];

type Queries = { queries: { prompt: string; response: string; status: string }[] };

/** The fields that the incumbent's web client always sends, and their meaning. */
export function webClientStory(makeBacking: MakeBacking): void {
  let world: World;
  let sourceId: string;
  let agent: Readonly<{ id: string; key: string }>;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    sourceId = await addedSource(world.alice, 'Handbook', '# Parking\n\nThe garage opens at six in the morning.');
    agent = await world.agent({ source: sourceId });
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const question = 'When does the garage open?';

  describe.each(ROUTES)('isNoneDoc, which means that no document is selected, over %s', (route) => {
    const modelWasGiven = () => JSON.stringify(world.model.completions.at(-1)!.body.messages);

    it('does not remove the sources of an agent, however the agent is named', async () => {
      const byId = await askOver(route, world.alice, { question, isNoneDoc: true, agent_id: agent.id });
      expect(byId.status).toBe(200);
      expect(modelWasGiven()).toContain('The garage opens at six');
      await askOver(route, world.nobody, { question, isNoneDoc: true, api_key: agent.key });
      expect(modelWasGiven()).toContain('The garage opens at six');
      const { conversationId: conversation_id } = byId;
      world.model.reset();
      await askOver(route, world.alice, { question: 'The garage, once more?', isNoneDoc: true, conversation_id });
      expect(modelWasGiven()).toContain('The garage opens at six');
    });

    it('retrieves nothing without an agent', async () => {
      await askOver(route, world.alice, { question, isNoneDoc: true, active_docs: [sourceId] });
      expect(modelWasGiven()).not.toContain('The garage opens at six');
      await askOver(route, world.alice, { question, isNoneDoc: false, active_docs: [sourceId] });
      expect(modelWasGiven()).toContain('The garage opens at six');
    });

    it('retrieves from a source that is selected together with the default source, which has no id', async () => {
      const { status } = await askOver(route, world.alice, { question, isNoneDoc: false, active_docs: [null, sourceId] });
      expect(status).toBe(200);
      expect(modelWasGiven()).toContain('The garage opens at six');
    });
  });

  describe.each(ROUTES)('active_docs, over %s', (route) => {
    it('names the documents of an agent without sources, and does not replace those of an agent', async () => {
      const bare = await world.agent();
      await askOver(route, world.nobody, { question, api_key: bare.key, active_docs: sourceId });
      expect(JSON.stringify(world.model.completions.at(-1)!.body.messages)).toContain('The garage opens at six');
      await askOver(route, world.nobody, { question, api_key: agent.key, active_docs: [bare.id] });
      expect(JSON.stringify(world.model.completions.at(-1)!.body.messages)).toContain('The garage opens at six');
    });
  });

  describe.each(ROUTES)('unsupported fields, over %s', (route) => {
    const ask = (more: object) => world.alice.post(route, { question, ...more });

    it('are reported as ignored: every conversation is stored', async () => {
      const unkept = await ask({ persist: false });
      expect([unkept.status, unkept.headers.get('x-ignored-parameters')]).toEqual([200, 'persist']);
      await unkept.text();
      const kept = await ask({ persist: true, multimodal_content: [] });
      expect([kept.status, kept.headers.get('x-ignored-parameters')]).toEqual([200, null]);
      await kept.text();
    });

    it('are refused for pictures, which must be attachments', async () => {
      const refused = await ask({
        multimodal_content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
      });
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('name them in attachments')]);
      expect((await ask({ persist: 'no' })).status).toBe(400);
    });
  });

  describe('a retry', () => {
    let keys = 0;
    const newKey = () => ({ 'idempotency-key': `retry ${++keys}` });
    const body = { question, conversation_id: null, isNoneDoc: true, visibility: 'listed' };
    const ask = (more: object, headers: Readonly<Record<string, string>> = {}): Promise<Streamed> =>
      world.alice.stream({ ...body, ...more }, undefined, headers);
    const fails = () => world.model.next([...say('Half'), broken]);
    const queriesOf = async (conversationId: string) =>
      (await world.alice.json<Queries>(`/api/get_single_conversation?id=${conversationId}`)).queries.map(
        ({ prompt, response, status }) => ({ prompt, response, status }),
      );
    const ANSWERED = [{ prompt: question, response: 'Hello from the script.', status: 'complete' }];

    it.each([0, 3, '0'])('of a question whose conversation id never arrived starts one (index %j)', async (index) => {
      const retried = await ask({ index });
      expect(retried.status).toBe(200);
      expect(answerIn(retried)).toBe('Hello from the script.');
      expect(await queriesOf(conversationIdIn(retried))).toEqual(ANSWERED);
    });

    it('without a conversation_id is refused', async () => {
      const reply = await world.alice.post('/stream', { question, index: 0 });
      expect(reply.status).toBe(400);
      expect(await reply.json()).toEqual({ success: false, message: 'Missing required fields: conversation_id' });
    });

    it('with the key of a refused question is accepted as new', async () => {
      const key = newKey();
      expect((await ask({ model_id: 'no-such-model' }, key)).status).toBe(400);
      const retried = await ask({ index: 0 }, key);
      expect([retried.status, retried.headers.get('idempotent-replayed'), answerIn(retried)]).toEqual([
        200,
        null,
        'Hello from the script.',
      ]);
    });

    it('with the key of an answered question returns that answer, and asks nothing', async () => {
      const key = newKey();
      const first = await ask({}, key);
      const conversation_id = conversationIdIn(first);
      const before = await world.quietHead();
      for (const more of [{ index: 0 }, { index: 0, conversation_id }]) {
        const retried = await ask(more, key);
        expect([retried.status, retried.headers.get('idempotent-replayed'), retried.text]).toEqual([200, 'true', first.text]);
      }
      expect(await world.quietHead()).toBe(before);
    });

    it('with the key of a failed question replaces it, each time until it is answered', async () => {
      const key = newKey();
      fails();
      const failed = await ask({}, key);
      const conversation_id = conversationIdIn(failed);
      fails();
      const failedAgain = await ask({ index: 0, conversation_id }, key);
      expect(answerIn(failedAgain)).toBe('Half');
      expect(messageIdIn(failedAgain)).not.toBe(messageIdIn(failed));
      const answered = await ask({ index: 0, conversation_id }, key);
      expect(await queriesOf(conversation_id)).toEqual(ANSWERED);
      const repeated = await ask({ index: 0, conversation_id }, key);
      expect([repeated.headers.get('idempotent-replayed'), repeated.text]).toEqual(['true', answered.text]);
      expect(world.model.completions).toHaveLength(3);
    });

    it('may ask another model than the one that failed', async () => {
      const key = newKey();
      fails();
      const conversation_id = conversationIdIn(await ask({}, key));
      const retried = await ask({ index: 0, conversation_id, model_id: 'scripted' }, key);
      expect([retried.status, answerIn(retried)]).toEqual([200, 'Hello from the script.']);
    });

    it('sent several times at once is one question', async () => {
      const key = newKey();
      fails();
      const conversation_id = conversationIdIn(await ask({}, key));
      const retried = await Promise.all(Array.from({ length: 8 }, () => ask({ index: 0, conversation_id }, key)));
      expect(new Set(retried.map(({ text }) => text)).size).toBe(1);
      expect(world.model.completions).toHaveLength(2);
    });

    it('is refused if its index or question differs from what was answered', async () => {
      const key = newKey();
      const conversation_id = conversationIdIn(await ask({}, key));
      for (const more of [
        { index: 1, conversation_id },
        { index: 0, conversation_id, question: 'And on Sundays?' },
      ]) {
        expect((await ask(more, key)).status).toBe(422);
      }
    });
  });
}
