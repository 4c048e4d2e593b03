import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { MakeBacking } from '../support/backing.js';
import { type Client, messageIdIn, recordsIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { call, say } from '../support/scripted-model-server.js';
import { TabForTests } from '../support/tab.js';
import { ToolKindForTests } from '../support/tool-kinds.js';
import { openWorld, type World } from '../support/world.js';
import { ToolKinds } from '../../src/resources/tools/toolbox/tool-kinds.js';

type Listed = { id: string; mark: string | null };
type Query = { status: string; tool_calls: { call_id: string; status: string; not_run?: string }[] };

/** A turn that waits for approval, as seen by open tabs, the sidebar and readers of the stream. */
export function approvalEventsStory(makeBacking: MakeBacking): void {
  let world: World;
  let alice: Client;
  let agentId: string;
  let tab: TabForTests;

  const offerPostcards = () => world.service.service.app.get(ToolKinds, { strict: false }).add(new ToolKindForTests());
  const restart = async (changes: Readonly<Record<string, string>> = {}) => {
    await world.service.restart(changes);
    offerPostcards();
  };

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    alice = world.alice;
    offerPostcards();
    const card = { name: 'postcard', displayName: 'Cards', description: 'Mine', config: { token: 't' }, status: true };
    const { id } = (await (await alice.post('/api/create_tool', card)).json()) as { id: string };
    const { tools } = await alice.json<{ tools: { id: string; actions: Record<string, unknown>[] }[] }>('/api/get_tools');
    const actions = tools.find((tool) => tool.id === id)!.actions.map((action) => ({ ...action, require_approval: true }));
    await alice.post('/api/update_tool_actions', { id, actions });
    agentId = (await world.agent({ tools: [id] })).id;
  });
  afterAll(() => world.close());
  beforeEach(async () => (tab = await TabForTests.open(alice)));
  afterEach(() => tab.close());

  const told = (one = tab) =>
    one.events.map(({ type, payload }) => (type === 'conversation.mark' ? payload['mark'] : (payload['reason'] ?? type)));
  const ask = async (visibility: 'listed' | 'hidden') => {
    world.model.next([...say('Let me. '), call('k1', 'send_card', { to: 'bob' })]);
    const asked = await alice.stream({ question: 'Send it.', agent_id: agentId, visibility });
    expect(asked.frames.map(({ data }) => data.type).slice(-3)).toEqual(['tool_calls_pending', 'id', 'end']);
    return { asked, messageId: messageIdIn(asked), conversationId: String(asked.frames.at(-2)!.data['id']) };
  };
  const listed = async (id: string) => (await alice.json<Listed[]>('/api/get_conversations')).find((each) => each.id === id);
  const query = async (id: string) =>
    (await alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${id}`)).queries[0]!;

  describe('an approval', () => {
    it('is announced everywhere its owner looks, and withdrawn everywhere once it is given, even across a restart', async () => {
      const { asked, messageId, conversationId } = await ask('listed');
      await eventually(() => told().length === 3);
      expect(told()).toEqual(['running', 'approval', 'tool.approval.required']);
      const { payload, scope } = tab.events[2]!;
      expect(scope).toEqual({ kind: 'conversation', id: conversationId });
      expect(payload).toEqual({
        conversation_id: conversationId,
        message_id: messageId,
        pending_tool_calls: [{ call_id: 'k1', tool_name: 'postcard', action_name: 'send_card', name: 'send_card' }],
        expires_at: expect.any(String),
      });
      await eventually(async () => (await listed(conversationId))?.mark === 'approval');
      expect(await query(conversationId)).toMatchObject({
        status: 'streaming',
        response: 'Let me. ',
        tool_calls: [{ call_id: 'k1', status: 'awaiting_approval' }],
      });
      expect(await alice.json(`/api/messages/${messageId}/tail`)).toMatchObject({ status: 'streaming', response: 'Let me. ' });
      expect(await alice.json(`/api/messages/${messageId}/digest`)).toMatchObject({ complete: false });
      const pausedAt = asked.frames.at(-1)!.id;
      expect(recordsIn((await alice.resume(messageId)).text)).toBe(recordsIn(asked.text));
      expect((await alice.resume(messageId, pausedAt)).text).toContain(': up-to-date');

      await restart();
      const other = await TabForTests.open(alice, tab.ids[0]);
      world.model.next([...say('Sent.')]);
      const resumed = await alice.stream({
        conversation_id: conversationId,
        agent_id: agentId,
        tool_actions: [{ call_id: 'k1', decision: 'approved' }],
      });
      const rest = ['running', 'decided', 'unread', null];
      await eventually(() => told(other).length === 6);
      expect(told(other)).toEqual(['approval', 'tool.approval.required', ...rest]);
      expect((await listed(conversationId))?.mark).toBeNull();
      expect(await query(conversationId)).toMatchObject({
        status: 'complete',
        tool_calls: [{ call_id: 'k1', status: 'completed' }],
      });

      expect(resumed.frames[0]).toMatchObject({ id: pausedAt + 1, data: { type: 'message_id', message_id: messageId } });
      const whole = recordsIn(asked.text) + recordsIn(resumed.text);
      expect(recordsIn((await alice.resume(messageId)).text)).toBe(whole);
      for (const cursor of [2, pausedAt - 1, pausedAt]) {
        const after = whole.slice(whole.indexOf(`id: ${cursor + 1}\n`));
        expect(recordsIn((await alice.resume(messageId, cursor)).text)).toBe(after);
      }
      expect(await alice.json(`/api/messages/${messageId}/digest`)).toMatchObject({ complete: true });
      await other.close();
    });

    it('is withdrawn when the conversation continues without it, even if that is not listed', async () => {
      const { conversationId } = await ask('hidden');
      world.model.next([...say('Never mind.')]);
      await alice.stream({ question: 'What else?', conversation_id: conversationId, agent_id: agentId });
      await eventually(() => told().length === 2);
      expect(told()).toEqual(['tool.approval.required', 'moved_on']);
      expect((await query(conversationId)).tool_calls).toEqual([
        expect.objectContaining({ call_id: 'k1', status: 'denied', not_run: 'moved_on' }),
      ]);
    });

    it('is withdrawn when the conversation is deleted', async () => {
      const { conversationId } = await ask('listed');
      await alice.post(`/api/delete_conversation?id=${conversationId}`, {});
      await eventually(() => told().length === 5);
      expect(told()).toEqual(['running', 'approval', 'tool.approval.required', null, 'moved_on']);
    });

    it('is withdrawn when it expires', async () => {
      // Longer than reading the stream up to its pause takes.
      await restart({ APPROVAL_TTL_SECONDS: '3' });
      await tab.close();
      tab = await TabForTests.open(alice);
      const { asked, messageId, conversationId } = await ask('listed');
      await eventually(() => told().length === 5);
      expect(told()).toEqual(['running', 'approval', 'tool.approval.required', 'expired', 'unread']);
      await eventually(async () => (await listed(conversationId))?.mark === 'unread');
      expect(await query(conversationId)).toMatchObject({
        status: 'complete',
        tool_calls: [{ status: 'denied', not_run: 'expired' }],
      });
      const replay = await alice.resume(messageId, asked.frames.at(-1)!.id);
      expect(replay.frames.map(({ data }) => data.type)).toEqual([
        'message_id',
        'tool_call',
        'source',
        'tool_calls',
        'id',
        'end',
      ]);
    });
  });
}
