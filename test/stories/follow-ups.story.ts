import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { MakeBacking } from '../support/backing.js';
import { answerIn, type Client, conversationIdIn, messageIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { call, hang, say, until } from '../support/scripted-model-server.js';
import { TabForTests } from '../support/tab.js';
import { ToolKindForTests } from '../support/tool-kinds.js';
import { cause } from '../support/turns.js';
import { openWorld, type World } from '../support/world.js';
import { TurnAdditions } from '../../src/dialogue/conversation/additions.port.js';
import { newId } from '../../src/kernel/ids.js';
import { ToolKinds } from '../../src/resources/tools/toolbox/tool-kinds.js';
import { type FollowUp, FollowUps } from '../../src/background/follow-ups/follow-ups.port.js';

type Listed = { id: string; mark: string | null; unread: boolean };
type Query = {
  prompt: string;
  response: string;
  message_id: string;
  status: string;
  tool_calls: Record<string, unknown>[];
  metadata?: Record<string, unknown>;
};

/** Conversations that continue without a question: because a job or monitor has reported, or because a schedule adds a turn. */
export function followUpsStory(makeBacking: MakeBacking): void {
  let world: World;
  let alice: Client;
  let agentId: string;
  let agentKey: string;
  let tab: TabForTests;

  const offerPostcards = () => world.service.service.app.get(ToolKinds, { strict: false }).add(new ToolKindForTests());

  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
    alice = world.alice;
    offerPostcards();
    const card = { name: 'postcard', displayName: 'Cards', description: 'Mine', config: { token: 't' }, status: true };
    const { id } = (await (await alice.post('/api/create_tool', card)).json()) as { id: string };
    const { tools } = await alice.json<{ tools: { id: string; actions: Record<string, unknown>[] }[] }>('/api/get_tools');
    const actions = tools.find((tool) => tool.id === id)!.actions.map((action) => ({ ...action, require_approval: true }));
    await alice.post('/api/update_tool_actions', { id, actions });
    ({ id: agentId, key: agentKey } = await world.agent({ tools: [id] }));
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    world.model.reset();
    tab = await TabForTests.open(alice);
  });
  afterEach(() => tab.close());

  const begin = async () => {
    world.model.next([...say('I have begun.')]);
    const asked = await alice.stream({ question: 'Export it.', agent_id: agentId, visibility: 'listed' });
    return conversationIdIn(asked);
  };
  /** Begins a conversation that is not continued before `meanwhile` has ended, because it is busy. */
  const beginBusy = async (meanwhile: (conversationId: string) => Promise<unknown>) => {
    const ids = async () => (await alice.json<Listed[]>('/api/get_conversations')).map(({ id }) => id);
    const before = new Set(await ids());
    let release = () => {};
    world.model.next([until(new Promise<void>((resolve) => (release = resolve))), ...say('I have begun.')]);
    const asked = alice.stream({ question: 'Export it.', agent_id: agentId, visibility: 'listed' });
    let conversationId: string | undefined;
    await eventually(async () => (conversationId = (await ids()).find((id) => !before.has(id))) !== undefined);
    await meanwhile(conversationId!);
    release();
    await asked;
    return conversationId!;
  };
  const followUp = async (conversationId: string, key: string, more: Partial<FollowUp> = {}) => {
    const followUps = world.service.service.app.get(FollowUps, { strict: false });
    const whole = {
      conversationId,
      ownerId: await world.idOf('alice'),
      source: 'job',
      refId: key,
      dedupeKey: `job:${key}`,
      text: `${key} is done.`,
    };
    return followUps.request({ ...whole, ...more } as FollowUp, cause);
  };
  const listed = async (id: string) => (await alice.json<Listed[]>('/api/get_conversations')).find((each) => each.id === id);
  const queries = async (id: string) => (await alice.json<{ queries: Query[] }>(`/api/get_single_conversation?id=${id}`)).queries;
  const told = (conversationId: string) =>
    tab.events
      .filter(({ payload }) => payload['conversation_id'] === conversationId)
      .map(({ type, payload }) => (type === 'conversation.mark' ? payload['mark'] : type));
  /** The messages of the last model request. */
  const asked = () => world.model.completions.at(-1)!.body.messages;

  async function expectWhole(messageId: string): Promise<string> {
    const replayed = await alice.resume(messageId);
    const lines = replayed.text.split('\n').filter((line) => /^(id|data): /.test(line));
    const sha256 = createHash('sha256')
      .update(lines.map((line) => `${line}\n`).join(''))
      .digest('hex');
    const frames = replayed.frames.length;
    expect(await alice.json(`/api/messages/${messageId}/digest`)).toMatchObject({ frames, sha256, complete: true });
    expect((await alice.resume(messageId, 0)).frames).toEqual(replayed.frames.slice(1));
    expect((await world.bob.resume(messageId)).status).toBe(404);
    return answerIn(replayed);
  }

  describe('a conversation with follow-ups', () => {
    it('continues once, with all follow-ups, and names them', async () => {
      const conversationId = await beginBusy(async (id) => {
        await Promise.all([followUp(id, 'j1'), followUp(id, 'j1')]);
        await followUp(id, 'j2');
        world.model.next([...say('Both are', ' done.')]);
      });
      await eventually(() => told(conversationId).includes('conversation.continued'));
      expect(told(conversationId).slice(-3)).toEqual(['running', 'unread', 'conversation.continued']);
      await eventually(async () => (await listed(conversationId))?.mark === 'unread');
      const all = await queries(conversationId);
      const [, automatic, ...others] = all;
      expect([automatic!.response, automatic!.status, others]).toEqual(['Both are done.', 'complete', []]);
      expect(automatic!.prompt.split('\n\n').sort()).toEqual(['1. j1 is done.', '2. j2 is done.']);
      expect(automatic!.metadata).toEqual({ wake: { source: 'job', ref_id: 'j1', dedupe_key: 'job:j1' } });
      const { payload } = tab.events.findLast(({ type }) => type === 'conversation.continued')!;
      expect(payload).toEqual({ conversation_id: conversationId, message_id: automatic!.message_id, source: 'job' });
      expect(await expectWhole(automatic!.message_id)).toBe('Both are done.');
      expect(JSON.stringify(asked())).toContain('I have begun.');
      expect(String(asked().at(-1)!.content)).toContain('NO_REPLY');

      world.model.next([...say('Gladly.')]);
      await alice.stream({ question: 'Thanks.', conversation_id: conversationId, agent_id: agentId });
      expect(JSON.stringify(asked())).toContain('Both are done.');
      expect(JSON.stringify(asked())).not.toContain('NO_REPLY');
    });

    it('shows nothing if the model replies NO_REPLY', async () => {
      const conversationId = await begin();
      world.model.next([...say('NO', '_REPLY')]);
      await followUp(conversationId, 'j1');
      await eventually(() => told(conversationId).slice(-2).join() === 'running,');
      expect(await queries(conversationId)).toHaveLength(1);
      await eventually(async () => (await listed(conversationId))?.mark === null);
      expect(await listed(conversationId)).toMatchObject({ unread: false });
      expect(told(conversationId)).not.toContain('conversation.continued');

      world.model.next([...say('Yes.')]);
      await alice.stream({ question: 'Is it done?', conversation_id: conversationId, agent_id: agentId, index: 1 });
      expect((await queries(conversationId)).map(({ prompt }) => prompt)).toEqual(['Export it.', 'Is it done?']);
    });

    it('waits for its owner if the model calls an action that requires approval', async () => {
      const conversationId = await begin();
      world.model.next([...say('Let me. '), call('k1', 'send_card', { to: 'bob' })]);
      await followUp(conversationId, 'j1');
      await eventually(() => told(conversationId).includes('tool.approval.required'));
      await eventually(async () => (await listed(conversationId))?.mark === 'approval');
      await followUp(conversationId, 'j2', { source: 'monitor' });
      world.model.next([...say('Sent.')], [...say('That is done, too.')]);
      const decided = {
        conversation_id: conversationId,
        agent_id: agentId,
        tool_actions: [{ call_id: 'k1', decision: 'approved' }],
      };
      await alice.stream(decided);
      await eventually(async () => (await queries(conversationId)).at(-1)!.response === 'That is done, too.');
      // User events arrive independently of the conversation.
      const continued = () =>
        tab.events.filter(({ type }) => type === 'conversation.continued').map(({ payload }) => payload['source']);
      await eventually(() => continued().length === 2);
      expect(continued()).toEqual(['job', 'monitor']);
      expect((await queries(conversationId)).map(({ response }) => response)).toEqual([
        'I have begun.',
        'Let me. Sent.',
        'That is done, too.',
      ]);
    });

    it('continues with the rights of a key if it was last asked with one', async () => {
      world.model.next([...say('I have begun.')]);
      const conversationId = conversationIdIn(await world.nobody.stream({ question: 'Export it.', api_key: agentKey }));
      world.model.next([...say('Let me. '), call('k2', 'send_card', { to: 'bob' })], [...say('I may not.')]);
      await followUp(conversationId, 'j1');
      await eventually(async () => (await queries(conversationId)).at(-1)!.response === 'Let me. I may not.');
      const [, automatic] = await queries(conversationId);
      expect(automatic!.tool_calls).toMatchObject([{ call_id: 'k2', status: 'denied', error_type: 'tool_not_allowed' }]);
      const shown = await world.nobody.json<{ response: string }>(
        `/api/messages/${automatic!.message_id}/tail?api_key=${agentKey}`,
      );
      expect(shown).toMatchObject({ response: 'Let me. I may not.' });
    });

    it('continues even after a restart in between', async () => {
      const conversationId = await begin();
      world.model.always([hang]);
      await followUp(conversationId, 'j1');
      world.model.always([...say('It is done.')]);
      await world.service.restart();
      offerPostcards();
      await eventually(async () => (await queries(conversationId)).at(-1)!.response === 'It is done.');
      expect(await queries(conversationId)).toHaveLength(2);
    });

    it('does not continue once it is deleted', async () => {
      // It is not continued before it is deleted, because it waits for a decision.
      world.model.next([call('k3', 'send_card', { to: 'bob' })]);
      const conversationId = conversationIdIn(
        await alice.stream({ question: 'Export it.', agent_id: agentId, visibility: 'listed' }),
      );
      const before = world.model.completions.length;
      await followUp(conversationId, 'j1');
      await alice.post(`/api/delete_conversation?id=${conversationId}`, {});
      const [other, message] = [await begin(), 'It is done.'];
      world.model.next([...say(message)]);
      await followUp(other, 'j1');
      await eventually(async () => (await queries(other)).at(-1)!.response === message);
      expect(world.model.completions).toHaveLength(before + 2);
      expect((await alice.get(`/api/get_single_conversation?id=${conversationId}`)).status).toBe(404);
    });
  });

  describe('a turn that was added from elsewhere', () => {
    it('is part of its conversation for readers and for the next answer', async () => {
      const conversationId = await begin();
      const additions = world.service.service.app.get(TurnAdditions, { strict: false });
      const [turnId, scheduleId, runId] = [newId(), newId(), newId()];
      const parts = { answer: 'The plants have water.', thought: '', sources: [], toolCalls: [], structured: false };
      const origin = { kind: 'schedule', scheduleId, runId, scheduledFor: '2026-01-01T09:00:00.000Z' } as const;
      const turn = {
        conversationId,
        ownerId: await world.idOf('alice'),
        turnId,
        question: 'Water them.',
        parts,
        modelId: 'scripted',
        origin,
      };
      expect(await Promise.all([additions.add(turn, cause), additions.add(turn, cause)])).toEqual([1, 1]);
      await eventually(() => told(conversationId).includes('schedule.message.appended'));
      expect(tab.events.find(({ type }) => type === 'schedule.message.appended')).toMatchObject({
        scope: { kind: 'conversation', id: conversationId },
        payload: { conversation_id: conversationId, message_id: turnId, schedule_id: scheduleId, run_id: runId, position: 1 },
      });
      await eventually(async () => (await listed(conversationId))?.mark === 'unread');
      expect(await listed(conversationId)).toMatchObject({ unread: true });
      expect((await queries(conversationId))[1]).toMatchObject({
        ...{ prompt: 'Water them.', response: parts.answer, message_id: turnId, status: 'complete' },
        metadata: { scheduled: true, schedule_id: scheduleId, run_id: runId, scheduled_run_at: origin.scheduledFor },
      });
      expect(await expectWhole(turnId)).toBe(parts.answer);
      expect(await alice.json(`/api/messages/${turnId}/tail`)).toMatchObject({ status: 'complete', response: parts.answer });
      world.model.next([...say('Yes.')]);
      const next = await alice.stream({ question: 'Did you?', conversation_id: conversationId, agent_id: agentId });
      expect(messageIdIn(next)).not.toBe(turnId);
      expect(JSON.stringify(asked())).toContain(parts.answer);
      const rating = { feedback: 'like', conversation_id: conversationId, question_index: 1 };
      expect((await alice.post('/api/feedback', rating)).status).toBe(200);
    });
  });
}
