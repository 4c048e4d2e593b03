import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/kernel/ids.js';
import { TURNS_AT_ONCE } from '../../projections/conversations/conversations.queries.js';
import type { MakeBacking } from '../support/backing.js';
import { conversationIdIn } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { say } from '../support/scripted-model-server.js';
import { openWorld, replyOf, type World } from '../support/world.js';

type Shown = Readonly<{ success: true; title: string; timestamp: string; queries: readonly Record<string, unknown>[] }>;

const BROKEN = 'might have broken url or the conversation does not exist';

/** Links to conversations: they show what was shared, or nothing. */
export function conversationLinksStory(makeBacking: MakeBacking): void {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({}, makeBacking);
  });
  afterAll(() => world.close());
  beforeEach(() => world.model.reset());

  const answered = async (question: string, more: object = {}): Promise<string> => {
    world.model.next(say(`${question} Answered.`));
    return conversationIdIn(await world.alice.stream({ question, visibility: 'listed', ...more }));
  };
  const share = (conversation_id: string, query = 'isPromptable=false', by = world.alice) =>
    replyOf(by.post(`/api/share?${query}`, { conversation_id }));
  const shared = async (conversationId: string): Promise<string> => {
    const { status, body } = await share(conversationId);
    expect([status, body]).toEqual([201, { success: true, identifier: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    return (body as { identifier: string }).identifier;
  };
  const shown = (identifier: string) => replyOf(world.nobody.get(`/api/shared_conversation/${identifier}`));
  const promptsOf = async (identifier: string) => ((await shown(identifier)).body as Shown).queries.map(({ prompt }) => prompt);

  it('shows every visitor the answers, and nothing of the owner', async () => {
    const id = await answered('Why?');
    const { status, body } = await shown(await shared(id));
    expect(status).toBe(200);
    expect(body).toEqual({
      ...{ success: true, title: 'Why?', timestamp: expect.any(String) },
      queries: [
        {
          ...{ prompt: 'Why?', response: 'Why? Answered.', thought: '', sources: [], tool_calls: [] },
          ...{ timestamp: expect.any(String), feedback: null },
        },
      ],
    });
  });

  it('shows all answers of a long conversation, as its owner sees them', async () => {
    const questions = Array.from({ length: TURNS_AT_ONCE + 3 }, (_, index) => `Question ${index}?`);
    const id = await answered(questions[0]!);
    for (const question of questions.slice(1)) await answered(question, { conversation_id: id });
    const identifier = await shared(id);
    const { queries, ...about } = (await replyOf(world.alice.get(`/api/get_single_conversation?id=${id}`))).body as Shown;
    expect(about).toEqual({ name: questions[0], agent_id: null, is_shared_usage: false, shared_token: identifier });
    expect(queries.map(({ prompt }) => prompt)).toEqual(questions);
    const { body, headers } = await shown(identifier);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(body).toMatchObject({ success: true, title: questions[0], timestamp: expect.any(String) });
    expect((body as Shown).queries.map(({ prompt }) => prompt)).toEqual(questions);
  });

  it('shows what was shared, whatever is asked, edited, rated and renamed afterwards', async () => {
    const id = await answered('First?');
    await answered('Second?', { conversation_id: id });
    const identifier = await shared(id);
    const before = (await shown(identifier)).text;
    await answered('Third?', { conversation_id: id });
    await answered('Edited?', { conversation_id: id, index: 0 });
    await world.alice.post('/api/feedback', { conversation_id: id, question_index: 0, feedback: 'like' });
    await world.alice.post('/api/update_conversation_name', { id, name: 'Renamed' });
    expect((await shown(identifier)).text).toBe(before);
    expect(await promptsOf(identifier)).toEqual(['First?', 'Second?']);
    expect(await promptsOf(await shared(id))).toEqual(['Edited?']);
  });

  it('is the `shared_token` of the conversation until it ends', async () => {
    const id = await answered('Token?');
    const tokens = async () => {
      const listed = await world.alice.json<{ id: string; shared_token: string | null }[]>('/api/get_conversations');
      const whole = await world.alice.json<{ shared_token: string | null }>(`/api/get_single_conversation?id=${id}`);
      return [listed.find((each) => each.id === id)!.shared_token, whole.shared_token];
    };
    expect(await tokens()).toEqual([null, null]);
    const [older, newer] = [await shared(id), await shared(id)];
    expect(await tokens()).toEqual([newer, newer]);
    expect((await world.alice.delete(`/api/share?identifier=${newer}`)).status).toBe(200);
    expect(await tokens()).toEqual([older, older]);
    expect((await shown(newer)).status).toBe(404);
  });

  describe('is invalid', () => {
    it('once its owner, and only its owner, ends it', async () => {
      const identifier = await shared(await answered('End?'));
      const foreign = await replyOf(world.bob.delete(`/api/share?identifier=${identifier}`));
      expect([foreign.status, (await shown(identifier)).status]).toEqual([404, 200]);
      expect((await world.alice.delete(`/api/share?identifier=${identifier}`)).status).toBe(200);
      expect(await shown(identifier)).toMatchObject({ status: 404, body: { success: false, error: BROKEN } });
      expect((await world.alice.delete(`/api/share?identifier=${identifier}`)).status).toBe(404);
    });

    it('once the conversation is deleted', async () => {
      const id = await answered('Delete?');
      const identifier = await shared(id);
      expect((await world.alice.post(`/api/delete_conversation?id=${id}`, {})).status).toBe(200);
      expect((await shown(identifier)).status).toBe(404);
    });

    it.each(['nonsense', newId(), 'f'.repeat(64)])('if it never existed: %s', async (identifier) => {
      expect((await shown(identifier)).status).toBe(404);
    });
  });

  it.each([
    ['', 400, 'isPromptable is required'],
    ['isPromptable=maybe', 400, 'isPromptable must be true or false'],
  ])('with %j is refused', async (query, status, message) => {
    const refused = await share(await answered('Refuse?'), query);
    expect([refused.status, refused.body]).toMatchObject([status, { message: expect.stringContaining(message) }]);
  });

  it('is made only by the owner', async () => {
    const id = await answered('Mine?');
    const missing = { success: false, message: 'Conversation not found' };
    const foreign = await share(id, undefined, world.bob);
    expect([foreign.status, foreign.body]).toEqual([(await share(newId())).status, (await share(newId())).body]);
    expect([foreign.status, foreign.body]).toMatchObject([404, missing]);
  });

  it('leaves no token in the log', async () => {
    const identifier = await shared(await answered('Secret?'));
    await eventually(async () => (await shown(identifier)).status === 200);
    for await (const page of world.backing.store.readAll({ after: -1n }))
      for (const { data } of page.events) expect(JSON.stringify(data)).not.toContain(identifier);
  });
}
