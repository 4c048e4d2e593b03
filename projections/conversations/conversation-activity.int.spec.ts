import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { PAUSE_EXPIRES_AT, turnPaused, waitingCall } from '../../test/support/pauses.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { ReadModels } from '../read-models.js';
import { ConversationActivityQueries } from './conversation-activity.queries.js';
import { conversations } from './conversations.projection.js';
import { ConversationQueries } from './conversations.queries.js';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
const parts = { answer: '', thought: '', sources: [], toolCalls: [], structured: false };
const approval = [waitingCall('call-1')];
const client = [waitingCall('call-1', 'requires_client_execution')];

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ConversationActivityQueries;
let listing: ConversationQueries;

/** A conversation with one turn and the events that follow it. */
async function given(id: string, minute: number, owner: string, visibility: 'listed' | 'hidden', ...rest: ConversationEvent[]) {
  const about = { conversationId: id, turnId: `turn-${id}` };
  const settings = turnSettings({ agentId: 'guide' });
  const start = { ownerId: owner, agentId: 'guide', name: `About ${id}`, visibility, sharedUsage: false, history: [] };
  const events: ConversationEvent[] = [
    { type: 'ConversationStarted', data: { conversationId: id, ...start } },
    { type: 'TurnAsked', data: { ...about, index: 0, question: 'Why?', requestId: 'r', settings } },
    { type: 'TurnStarted', data: { ...about, producer: 'p' } },
    ...rest,
  ];
  await model.given(conversationStream(id), events, { at: at(minute) });
}
const about = (id: string) => ({ conversationId: id, turnId: `turn-${id}` });
const failed = (id: string): ConversationEvent => ({
  type: 'TurnFailed',
  data: { ...about(id), ...parts, error: 'x', code: null },
});
const answered = (id: string): ConversationEvent => ({
  type: 'TurnAnswered',
  data: { ...about(id), ...parts, modelId: 'm', usage: null },
});

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(conversations, database.sql);
  queries = new ConversationActivityQueries(new ReadModels(database.sql));
  listing = new ConversationQueries(new ReadModels(database.sql));
  await given('older', 1, 'ann', 'listed');
  await given('hidden', 2, 'ann', 'hidden');
  await given('waiting', 3, 'ann', 'listed', turnPaused(about('waiting'), approval));
  await given('sooner', 4, 'ann', 'hidden', turnPaused(about('sooner'), approval, { expiresAt: at(20).toISOString() }));
  await given('client', 5, 'ann', 'listed', turnPaused(about('client'), client));
  await given('failed', 6, 'ann', 'listed', failed('failed'));
  await given('hidden-failure', 7, 'ann', 'hidden', failed('hidden-failure'));
  await given('answered', 8, 'ann', 'listed', answered('answered'));
  await given('bobs', 9, 'bob', 'listed');
  await given('bobs-waiting', 9, 'bob', 'listed', turnPaused(about('bobs-waiting'), approval));
});
afterAll(() => database.close());

it('the answers under way are those of the user in listed and hidden conversations, the newest first', async () => {
  const found = await queries.answersUnderWay('ann', 10);
  expect(found.map(({ conversationId }) => conversationId)).toEqual(['hidden', 'older']);
  expect(found[1]).toEqual({
    messageId: 'turn-older',
    conversationId: 'older',
    agentId: 'guide',
    title: 'About older',
    status: 'running',
    askedAt: at(1),
  });
  expect(await queries.answersUnderWay('ann', 1)).toHaveLength(1);
});

it('a turn that waits for an approval is listed with its calls until it expires', async () => {
  const found = await queries.approvalsAwaited('ann', at(0), 10);
  expect(found.map(({ conversationId }) => conversationId)).toEqual(['sooner', 'waiting']);
  expect(found[1]).toMatchObject({ calls: approval, since: at(3), expiresAt: new Date(PAUSE_EXPIRES_AT) });
  const later = await queries.approvalsAwaited('ann', at(20), 10);
  expect(later.map(({ conversationId }) => conversationId)).toEqual(['waiting']);
});

it('the chats that need attention are the listed ones that wait for an approval or have failed', async () => {
  const marks = (await listing.needingAttention('ann', 10)).map(({ id, mark }) => [id, mark]);
  expect(marks).toEqual([
    ['failed', 'failed'],
    ['waiting', 'approval'],
  ]);
  expect(await listing.needingAttention('ann', 1)).toHaveLength(1);
});
