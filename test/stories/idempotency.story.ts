import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { type Client, conversationIdIn, messageIdIn, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { cut, say, wait } from '../support/scripted-model-server.js';
import { TurnLog } from '../support/turn-log.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const REUSED = 'This Idempotency-Key was used with another request.';

/** Repeating a request with its key has no further effect. */
export function idempotencyStory(makeBacking: MakeBacking): void {
  let world: World;
  let agentKey: string;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    agentKey = (await world.agent()).key;
  });
  afterAll(() => world.close());

  let keys = 0;
  const newKey = () => ({ 'idempotency-key': `key ${++keys}` });
  const stream = async (body: object, key: Record<string, string>, client: Client = world.alice) => {
    const answer = await streamed(await client.post('/stream', body, key));
    return { ...answer, replayed: answer.headers.get('idempotent-replayed') };
  };
  const answer = async (body: object, key: Record<string, string>, client: Client = world.alice) => {
    const reply = await replyOf(client.post('/api/answer', body, key));
    return { ...reply, replayed: reply.headers.get('idempotent-replayed') };
  };
  const turnsAsked = async () => (await new TurnLog(world.backing.store).refresh()).turns.size;

  it('/stream repeats the same stream from its start', async () => {
    const key = newKey();
    const before = await turnsAsked();
    const first = await stream({ question: 'Why?' }, key);
    const second = await stream({ question: 'Why?' }, key);
    expect([first.replayed, second.replayed]).toEqual([null, 'true']);
    expect(second.text).toBe(first.text);
    expect(await turnsAsked()).toBe(before + 1);
  });

  it('/stream joins a running answer, and continues live', async () => {
    const key = newKey();
    const { model, alice } = world;
    model.next([...say('The ', 'sky '), wait(400), ...say('is ', 'blue.')]);
    let second: Promise<{ text: string }> | undefined;
    const first = await alice.stream(
      { question: 'Why?' },
      (text) => {
        if (text.includes('sky')) second ??= stream({ question: 'Why?' }, key);
        return false;
      },
      key,
    );
    expect((await second!).text).toBe(first.text);
  });

  it('/api/answer repeats the same body', async () => {
    const key = newKey();
    const before = await turnsAsked();
    const first = await answer({ question: 'Why?' }, key);
    const second = await answer({ question: 'Why?' }, key);
    expect([first.status, first.replayed, second.status, second.replayed]).toEqual([200, null, 200, 'true']);
    expect(second.text).toBe(first.text);
    expect(await turnsAsked()).toBe(before + 1);
  });

  it('/api/answer repeats a failure, and asks the model once', async () => {
    const key = newKey();
    const asked = world.model.completions.length;
    world.model.next([...say('The '), wait(100), cut]);
    const first = await answer({ question: 'Why?' }, key);
    const second = await answer({ question: 'Why?' }, key);
    expect([first.status, second.status, second.text]).toEqual([400, 400, first.text]);
    expect(world.model.completions.length).toBe(asked + 1);
  });

  it('refuses another request with a used key on either route, and asks nothing', async () => {
    const key = newKey();
    await stream({ question: 'Why?' }, key);
    const before = await world.quietHead();
    const other = await stream({ question: 'Why not?' }, key);
    expect(other.status).toBe(422);
    expect(other.text).toBe(`data: ${JSON.stringify({ type: 'error', error: REUSED, code: 'idempotency_key_reused' })}\n\n`);
    for (const question of ['Why?', 'Why not?']) {
      const { status, body } = await answer({ question }, key);
      expect({ status, body }).toEqual({ status: 422, body: { error: REUSED, code: 'idempotency_key_reused' } });
    }
    expect(await world.quietHead()).toBe(before);
  });

  it('separates keys by caller', async () => {
    const key = newKey();
    const { alice, bob, nobody } = world;
    const asked = [
      await stream({ question: 'Why?' }, key, alice),
      await stream({ question: 'Why?' }, key, bob),
      await stream({ question: 'Why?', api_key: agentKey }, key, nobody),
    ];
    expect(asked.map(({ status, replayed }) => [status, replayed])).toEqual(Array(3).fill([200, null]));
    expect(new Set(asked.map(messageIdIn)).size).toBe(3);
    expect((await stream({ question: 'Why?', api_key: agentKey }, key, nobody)).text).toBe(asked[2]!.text);
  });

  it('makes concurrent requests with one key one question', async () => {
    const key = newKey();
    const before = await turnsAsked();
    const all = await Promise.all(Array.from({ length: 20 }, () => stream({ question: 'Why?' }, key)));
    expect(new Set(all.map(({ text }) => text)).size).toBe(1);
    expect(all.filter(({ replayed }) => replayed === null)).toHaveLength(1);
    expect(await turnsAsked()).toBe(before + 1);
  });

  it('does not use up the key of a refused request', async () => {
    const key = newKey();
    expect((await answer({ question: 'Why?', model_id: 'no-such-model' }, key)).status).toBe(400);
    expect((await answer({ question: 'Why?' }, key)).status).toBe(200);
  });

  it('applies to a question in a conversation that has continued since', async () => {
    const key = newKey();
    const conversation_id = conversationIdIn(await stream({ question: 'Why?' }, newKey()));
    const first = await stream({ question: 'And then?', conversation_id }, key);
    await stream({ question: 'And after that?', conversation_id }, newKey());
    const second = await stream({ question: 'And then?', conversation_id }, key);
    expect(second.text).toBe(first.text);
  });

  it('returns an answer whose caller has disconnected', async () => {
    const key = newKey();
    const { model } = world;
    const asked = model.completions.length;
    model.next([...say('The '), wait(300), ...say('sky')]);
    const leaving = new AbortController();
    const gone = world.alice.post('/api/answer', { question: 'Why?' }, key, leaving.signal);
    await eventually(() => model.completions.length > asked);
    leaving.abort();
    await expect(gone).rejects.toThrow();
    const { body, replayed } = await answer({ question: 'Why?' }, key);
    expect([(body as { answer: string }).answer.length > 0, replayed]).toEqual([true, 'true']);
  });

  describe('after a restart', () => {
    it('both routes still know their keys', async () => {
      const [streamKey, answerKey] = [newKey(), newKey()];
      const first = [await stream({ question: 'Why?' }, streamKey), await answer({ question: 'Why?' }, answerKey)];
      await world.service.restart();
      const second = [await stream({ question: 'Why?' }, streamKey), await answer({ question: 'Why?' }, answerKey)];
      expect(second.map(({ text }) => text)).toEqual(first.map(({ text }) => text));
      expect(second.map(({ replayed }) => replayed)).toEqual(['true', 'true']);
    });

    it('a key is valid for its lifetime, and not longer', async () => {
      const key = newKey();
      const first = messageIdIn(await stream({ question: 'Why?' }, key));
      expect(messageIdIn(await stream({ question: 'Why?' }, key))).toBe(first);
      await world.service.restart({ IDEMPOTENCY_TTL_SECONDS: '0.5' });
      await eventually(async () => messageIdIn(await stream({ question: 'Why?' }, key)) !== first);
    });
  });
}
