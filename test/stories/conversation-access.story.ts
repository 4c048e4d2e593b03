import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { encodeMetadata } from '../../src/kernel/event-sourcing/codec.js';
import { newId } from '../../src/kernel/ids.js';
import { ToolKinds } from '../../src/resources/tools/toolbox/tool-kinds.js';
import { type AnsweringRoute, type Asked, askOver } from '../support/asked.js';
import type { MakeBacking } from '../support/backing.js';
import type { Client } from '../support/client.js';
import { call, say } from '../support/scripted-model-server.js';
import { ToolKindForTests } from '../support/tool-kinds.js';
import { turnSettings } from '../support/turn-settings.js';
import { cause, eventsOf } from '../support/turns.js';
import { openWorld, replyOf, type World } from '../support/world.js';

const ROUTES: readonly AnsweringRoute[] = ['/stream', '/api/answer'];
const READINGS = ['events', 'tail', 'digest', 'cancel'] as const;
const question = 'And then?';

type Agent = Readonly<{ id: string; key: string }>;
/** A caller: a client with or without a session, and the key in the request. */
type Visitor = Readonly<{ client: Client; api_key?: string }>;

/** A conversation belongs to the caller who started it, on every route. */
export function conversationAccessStory(makeBacking: MakeBacking): void {
  let world: World;
  let agent: Agent;
  let other: Agent;

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    world.service.service.app.get(ToolKinds, { strict: false }).add(new ToolKindForTests());
    const card = { name: 'postcard', displayName: 'Cards', description: 'Mine', config: { token: 't' }, status: true };
    const { id } = (await (await world.alice.post('/api/create_tool', card)).json()) as { id: string };
    const { tools } = await world.alice.json<{ tools: { id: string; actions: object[] }[] }>('/api/get_tools');
    const actions = tools.find((tool) => tool.id === id)!.actions.map((action) => ({ ...action, require_approval: true }));
    await world.alice.post('/api/update_tool_actions', { id, actions });
    agent = await world.agent({ tools: [id] });
    other = await world.agent();
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const keyHolder = (api_key: string, client = world.nobody): Visitor => ({ client, api_key });
  const ask = ({ client, ...key }: Visitor, body: object, route: AnsweringRoute = '/stream', headers = {}) =>
    askOver(route, client, { ...key, ...body }, headers);
  const read = ({ client, api_key }: Visitor, messageId: string, reading: (typeof READINGS)[number]) => {
    const path = `/api/messages/${messageId}/${reading}${api_key === undefined ? '' : `?api_key=${api_key}`}`;
    return replyOf(reading === 'cancel' ? client.post(path, {}) : client.get(path));
  };
  const rate = ({ client, ...key }: Visitor, conversation_id: string) =>
    replyOf(client.post('/api/feedback', { ...key, feedback: 'like', conversation_id, question_index: 0 }));
  const stated = async (conversationId: string) =>
    (await eventsOf(world.backing.store, conversationStream(conversationId))).map(({ type }) => type);
  const NOT_FOUND = { status: 404, error: 'Conversation not found' };

  describe('a conversation that its owner started with a session', () => {
    let answered: Asked;
    let waiting: Asked;
    const started = () => ({ conversation_id: answered.conversationId });

    beforeAll(async () => {
      world.model.next(say('A secret.'), [...say('Let me. '), call('k1', 'send_card', { to: 'bob' })]);
      answered = await ask({ client: world.alice }, { question: 'Why?', agent_id: agent.id });
      waiting = await ask({ client: world.alice }, { question: 'Send it.', ...started() });
    });

    it.each(ROUTES)('accepts no question, edit or decision with a key of its agent: %s', async (route) => {
      const before = await stated(answered.conversationId);
      const decision = { tool_actions: [{ call_id: 'k1', decision: 'denied' }] };
      for (const visitor of [keyHolder(agent.key), keyHolder(agent.key, world.bob), keyHolder(agent.key, world.alice)]) {
        for (const body of [{ question }, { question, index: 0 }, decision]) {
          expect(await ask(visitor, { ...body, ...started() }, route)).toMatchObject(NOT_FOUND);
          const once = { 'idempotency-key': newId() };
          expect(await ask(visitor, { ...body, ...started() }, route, once)).toMatchObject(NOT_FOUND);
        }
      }
      expect(await stated(answered.conversationId)).toEqual(before);
      expect(world.model.completions).toHaveLength(0);
    });

    it('cannot be read or rated with a key', async () => {
      for (const message of [answered, waiting]) {
        for (const reading of READINGS) {
          const reply = await read(keyHolder(agent.key), message.messageId!, reading);
          expect(reply).toMatchObject({ status: 404, body: { success: false, message: 'Not found' } });
        }
      }
      expect(await rate(keyHolder(agent.key), answered.conversationId)).toMatchObject({ status: 404 });
    });

    it('is still unchanged for its owner', async () => {
      world.model.next(say('Sent.'));
      const resumed = await ask(
        { client: world.alice },
        { ...started(), tool_actions: [{ call_id: 'k1', decision: 'approved' }] },
      );
      expect(resumed).toMatchObject({ status: 200, toolCalls: [{ call_id: 'k1', status: 'completed' }] });
    });
  });

  describe('a conversation that was started with a key', () => {
    let begun: Asked;
    const started = () => ({ conversation_id: begun.conversationId });

    beforeAll(async () => {
      begun = await ask(keyHolder(agent.key), { question: 'Why?' });
    });

    it('continues for the key, for the agent’s owner, and for the key that replaced it', async () => {
      const old = agent.key;
      const renewed = (await (await world.alice.post(`/api/regenerate_agent_key/${agent.id}`, {})).json()) as { key: string };
      agent = { ...agent, key: renewed.key };
      const byOwner = await ask({ client: world.alice }, { question, ...started() });
      const byKey = await ask(keyHolder(agent.key), { question, ...started() });
      expect([byOwner.status, byKey.status]).toEqual([200, 200]);
      expect((await ask(keyHolder(old), { question, ...started() })).status).toBe(401);
      for (const message of [begun, byOwner, byKey]) {
        for (const visitor of [keyHolder(agent.key), { client: world.alice }]) {
          expect((await read(visitor, message.messageId!, 'tail')).body).toMatchObject({ status: 'complete' });
        }
      }
      expect((await ask(keyHolder(agent.key), { question, index: 1, ...started() })).status).toBe(200);
      expect((await rate(keyHolder(agent.key), begun.conversationId)).status).toBe(200);
      const { queries } = await world.alice.json<{ queries: object[] }>(
        `/api/get_single_conversation?id=${begun.conversationId}`,
      );
      expect(queries).toHaveLength(2);
    });

    it('does not exist for other keys and other users', async () => {
      const bobs = await world.agent({}, world.bob);
      const before = await stated(begun.conversationId);
      for (const visitor of [
        keyHolder(other.key),
        keyHolder(bobs.key),
        { client: world.bob },
        keyHolder(other.key, world.alice),
      ]) {
        for (const route of ROUTES) expect(await ask(visitor, { question, ...started() }, route)).toMatchObject(NOT_FOUND);
        for (const reading of READINGS) expect((await read(visitor, begun.messageId!, reading)).status).toBe(404);
        expect((await rate(visitor, begun.conversationId)).status).toBe(404);
      }
      expect((await world.bob.get(`/api/get_single_conversation?id=${begun.conversationId}`)).status).toBe(404);
      expect(await stated(begun.conversationId)).toEqual(before);
    });
  });

  describe('a conversation from before events recorded how it was started', () => {
    /** As an earlier version wrote it. */
    async function ofBefore(agentKeyId: string | null): Promise<Readonly<{ conversation_id: string }>> {
      const [conversationId, turnId] = [newId(), newId()];
      const about = { conversationId, turnId };
      const settings = turnSettings({ agentId: agent.id, agentKeyId });
      const named = { name: 'Why?', visibility: 'hidden', sharedUsage: false, history: [] } as const;
      const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
      const events: readonly ConversationEvent[] = [
        {
          type: 'ConversationStarted',
          data: { conversationId, ownerId: await world.idOf('alice'), agentId: agent.id, ...named },
        },
        { type: 'TurnAsked', data: { ...about, index: 0, question: 'Why?', requestId: 'r1', settings } },
        { type: 'TurnStarted', data: { ...about, producer: 'p1' } },
        { type: 'TurnAnswered', data: { ...about, ...parts, modelId: 'scripted', usage: null } },
        { type: 'TurnSealed', data: { ...about, lastId: 5, frames: 6, sha256: 'f'.repeat(64) } },
      ];
      const metadata = encodeMetadata(cause, 1);
      const written = events.map(({ type, data }) => ({ id: newId(), type, data: JSON.stringify(data), metadata }));
      await world.backing.store.append(conversationStream(conversationId), 'none', written);
      return { conversation_id: conversationId };
    }

    it('belongs to the caller who asked its first question', async () => {
      const [byOwner, byKey] = [await ofBefore(null), await ofBefore('a key of then')];
      expect(await ask(keyHolder(agent.key), { question, ...byOwner })).toMatchObject(NOT_FOUND);
      expect(await ask(keyHolder(agent.key), { question, ...byKey })).toMatchObject({ status: 200 });
      for (const body of [byOwner, byKey]) {
        expect(await ask({ client: world.alice }, { question, ...body })).toMatchObject({ status: 200 });
      }
    });
  });
}
