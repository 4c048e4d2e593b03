import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { tokenFor } from '../support/access-tokens.js';
import { Client, conversationIdIn, type Streamed, streamed } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { say, until } from '../support/scripted-model-server.js';
import { replyOf, type World } from '../support/world.js';

/** The process at which a stream is read, and the one at which its credential ends. They may be the same. */
export type Places = Readonly<{ reads: World; ends: World; close(): Promise<void> }>;

/** A reader of a stream whose credential can end: how it reads, and how the credential ends. */
type Reader = Readonly<{ client: Client; query?: string; asks: object; end: () => Promise<unknown>; afterwards: number }>;

const question = 'Why?';
const BEFORE = 'Before. ';

/** A stream that was opened with a credential ends when that credential ends, in the same process or in another. */
export function revocationStory(open: () => Promise<Places>): void {
  let places: Places;
  beforeAll(async () => {
    places = await open();
  });
  afterAll(() => places.close());
  beforeEach(() => places.reads.model.reset());

  const withToken = async (regenerating: boolean): Promise<Reader> => {
    const { ends, reads } = places;
    const { id, token } = await tokenFor(ends, { scopes: ['chat:run'] });
    const end = () =>
      regenerating ? ends.alice.post(`/api/user/tokens/${id}/regenerate`, {}) : ends.alice.delete(`/api/user/tokens/${id}`);
    return { client: new Client(reads.service.url, { authorization: `Bearer ${token}` }), asks: {}, end, afterwards: 401 };
  };
  const withKey = async (end: (agentId: string) => Promise<unknown>): Promise<Reader> => {
    const { id, key } = await places.ends.agent();
    const query = `?api_key=${key}`;
    return { client: places.reads.nobody, query, asks: { api_key: key }, end: () => end(id), afterwards: 401 };
  };

  const withLink = async (end: (conversationId: string, token: string) => Promise<unknown>): Promise<Reader> => {
    const { ends, reads } = places;
    const conversation_id = conversationIdIn(await ends.alice.stream({ question }));
    const { body } = await replyOf(ends.alice.post('/api/share?isPromptable=true', { conversation_id }));
    const { identifier: token } = body as { identifier: string };
    await eventually(async () => (await reads.nobody.get(`/api/shared_conversation/${token}`)).status === 200);
    const query = `?api_key=${token}`;
    return { client: reads.nobody, query, asks: { api_key: token }, end: () => end(conversation_id, token), afterwards: 401 };
  };

  const READERS: Readonly<Record<string, () => Promise<Reader>>> = {
    'a token that is revoked': () => withToken(false),
    'a token that is regenerated': () => withToken(true),
    'a key that is regenerated': () => withKey((id) => places.ends.alice.post(`/api/regenerate_agent_key/${id}`, {})),
    'the key of an agent that is withdrawn': () =>
      withKey((id) => places.ends.alice.put(`/api/update_agent/${id}`, { status: 'draft' })),
    'a link that its owner ends': () => withLink((_, token) => places.ends.alice.delete(`/api/share?identifier=${token}`)),
    'a link whose conversation is deleted': () =>
      withLink((id) => places.ends.alice.post(`/api/delete_conversation?id=${id}`, {})),
    'the key of an agent that is deleted': () => withKey((id) => places.ends.alice.delete(`/api/delete_agent?id=${id}`)),
  };

  it.each(Object.entries(READERS))('%s ends the streams that were opened with it, and no others', async (_, makeReader) => {
    const { reads } = places;
    const { client, query = '', asks, end, afterwards } = await makeReader();
    let goOn = (): void => undefined;
    // No frame is sent until both readers are disconnected, so only the end of the credential can close their streams.
    reads.model.next([...say(BEFORE), until(new Promise<void>((resolve) => (goOn = resolve))), ...say('After.')]);
    let messageId = '';
    const [first, begun] = noticed((text) => text.includes(BEFORE));
    const asking = client.stream({ question, ...asks }, (text) => {
      messageId = /"message_id":"([^"]+)"/.exec(text)?.[1] ?? '';
      return first(text);
    });
    await begun;
    const path = `/api/messages/${messageId}/events`;
    const [replayed, joined] = noticed((text) => text.includes(BEFORE));
    const reading = client.get(path + query).then((response) => streamed(response, replayed));
    const byOwner = reads.alice.get(path).then((response) => streamed(response));
    await joined;
    await end();
    const closed = await Promise.all([asking, reading]);
    goOn();
    for (const each of closed) expect(lastFrameOf(each)).toEqual({ type: 'answer', answer: BEFORE });
    expect((await client.get(path + query)).status).toBe(afterwards);
    const { frames } = await byOwner;
    expect(frames.map(({ data }) => data['answer']).filter(Boolean)).toEqual([BEFORE, 'After.']);
    expect(frames.at(-1)!.data.type).toBe('end');
  });

  it.each(Object.entries(READERS))('%s cuts a running /api/answer request', async (_, makeReader) => {
    const { reads } = places;
    const { client, asks, end } = await makeReader();
    let goOn = (): void => undefined;
    reads.model.next([until(new Promise<void>((resolve) => (goOn = resolve))), ...say('After.')]);
    const before = reads.model.requests.length;
    const answer = client.post('/api/answer', { question, ...asks }).then(
      () => 'answered',
      () => 'broken off',
    );
    await eventually(() => reads.model.requests.length > before);
    await end();
    expect(await answer).toBe('broken off');
    goOn();
  });

  it('a token does not end the streams of its owner’s other credentials', async () => {
    const { reads, ends } = places;
    const { id } = await tokenFor(ends, { scopes: ['chat:run'] });
    const kept = await tokenFor(reads, { scopes: ['chat:run'] });
    let goOn = (): void => undefined;
    reads.model.next([...say(BEFORE), until(new Promise<void>((resolve) => (goOn = resolve))), ...say('After.')]);
    const [first, begun] = noticed((text) => text.includes(BEFORE));
    const asking = kept.client.stream({ question }, first);
    await begun;
    await ends.alice.delete(`/api/user/tokens/${id}`);
    await ends.alice.post('/api/user/tokens', { name: 'Another', scopes: ['chat:run'] });
    goOn();
    expect((await asking).frames.at(-1)!.data.type).toBe('end');
  });
}

const lastFrameOf = ({ frames }: Streamed) => frames.at(-1)?.data;

/**
 * A callback for a growing text that never stops the reading, and a promise that resolves once the text satisfies the condition.
 */
function noticed(holds: (text: string) => boolean): readonly [(text: string) => boolean, Promise<void>] {
  let resolve = (): void => undefined;
  const come = new Promise<void>((done) => (resolve = done));
  const look = (text: string): boolean => {
    if (holds(text)) resolve();
    return false;
  };
  return [look, come];
}
