import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { rowsRead } from '../../test/support/rows-read.js';
import { LOG_BEGINNING_CHARACTERS, LOG_TEXTS_BYTES_MAX } from '../analytics-filters.js';
import { ReadModels } from '../read-models.js';
import { ConversationLogQueries } from './conversation-log.queries.js';
import { conversations } from './conversations.projection.js';
import { MessageAnalyticsQueries } from './message-analytics.queries.js';

const QUESTION_BYTES = 1024 * 1024;
const TURNS = LOG_TEXTS_BYTES_MAX / QUESTION_BYTES + 3;

let database: TestDatabase;
let queries: ConversationLogQueries;

beforeAll(async () => {
  database = await testDatabase();
  const model = await projecting(conversations, database.sql);
  queries = new ConversationLogQueries(new ReadModels(database.sql));
  for (let turn = 0; turn < TURNS; turn++) {
    const about = { conversationId: `c${turn}`, turnId: `t${turn}` };
    const settings = turnSettings({ agentId: 'guide' });
    const start = {
      ownerId: 'ann',
      agentId: 'guide',
      name: 'Why',
      visibility: 'listed',
      sharedUsage: false,
      history: [],
    } as const;
    const parts = { answer: 'Because.', thought: '', sources: [], toolCalls: [], structured: false };
    const events: ConversationEvent[] = [
      { type: 'ConversationStarted', data: { conversationId: about.conversationId, ...start } },
      { type: 'TurnAsked', data: { ...about, index: 0, question: 'y'.repeat(QUESTION_BYTES), requestId: 'r', settings } },
      { type: 'TurnStarted', data: { ...about, producer: 'p' } },
      { type: 'TurnAnswered', data: { ...about, ...parts, modelId: 'm', usage: null } },
    ];
    await model.given(conversationStream(about.conversationId), events, { at: new Date(Date.UTC(2026, 0, 1, 0, turn)) });
  }
});
afterAll(() => database.close());

it('the older answers are shortened when the texts of the newer ones fill a page', async () => {
  const filter = { ownerId: 'ann', agentId: undefined, level: undefined, search: undefined };
  const keys = await queries.newest(filter, TURNS);
  const rows = await queries.entries(keys.map(({ id }) => id));
  const byAge = rows.toSorted((one, other) => other.at.getTime() - one.at.getTime());
  const whole = byAge.filter(({ isShortened }) => !isShortened);
  expect(whole).toEqual(byAge.slice(0, LOG_TEXTS_BYTES_MAX / QUESTION_BYTES - 1));
  expect(byAge.slice(whole.length).map(({ summary, response }) => [summary, response])).toEqual(
    Array.from({ length: TURNS - whole.length }, () => ['y'.repeat(LOG_BEGINNING_CHARACTERS), 'Because.']),
  );
  expect(await queries.entries([])).toEqual([]);
});

it('a question to another agent than the conversation’s is an entry and a number of that agent', async () => {
  const model = await projecting(conversations, database.sql);
  const [conversationId, at] = ['mixed', new Date('2026-03-01T12:00:00Z')];
  const begun = { ownerId: 'eve', agentId: null, name: 'Why', visibility: 'listed', sharedUsage: false, history: [] } as const;
  const askedOf = (turnId: string, index: number, agentId: string | null): ConversationEvent[] => {
    const [about, settings] = [{ conversationId, turnId }, turnSettings({ agentId })];
    const parts = { answer: 'So.', thought: '', sources: [], toolCalls: [], structured: false };
    return [
      { type: 'TurnAsked', data: { ...about, index, question: 'Why?', requestId: 'r', settings } },
      { type: 'TurnAnswered', data: { ...about, ...parts, modelId: 'm', usage: null } },
      { type: 'TurnRated', data: { ...about, feedback: 'like' } },
    ];
  };
  const started: ConversationEvent = { type: 'ConversationStarted', data: { conversationId, ...begun } };
  const events = [started, ...askedOf('of-none', 0, null), ...askedOf('of-other', 1, 'other')];
  await model.given(conversationStream(conversationId), events, { at });
  const filter = { ownerId: 'eve', agentId: 'other', level: undefined, search: undefined };
  const keys = await queries.newest(filter, 10);
  expect(await queries.entries(keys.map(({ id }) => id))).toMatchObject([{ id: 'of-other', agentId: 'other' }]);
  const numbers = new MessageAnalyticsQueries(new ReadModels(database.sql));
  const window = { since: at, until: at, format: 'YYYY' };
  expect(await numbers.messages({ agentId: 'other' }, window)).toEqual([{ bucket: '2026', messages: 1 }]);
  expect(await numbers.feedback({ agentId: 'other' }, window)).toEqual([{ bucket: '2026', positive: 1, negative: 0 }]);
});

it('the newest answers of a user who has long been away are found without those that others got since', async () => {
  const [own, others] = [1_000, 20_000];
  await database.sql`
    insert into conversations.conversation (conversation_id, owner_id, name, visibility, shared_usage, started_at)
    select 'many-' || n, case when n <= ${own} then 'away' else 'user-' || n % 20 end, 'Why', 'listed', false, now()
    from generate_series(1, ${own + others}) as n`;
  await database.sql`
    insert into conversations.turn (turn_id, conversation_id, index, status, question, request_id, model_id, asked_at, changed_at, ended)
    select 'many-' || n, 'many-' || n, 0, 'answered', 'Why?', 'r', 'm', at, at, 3
    from generate_series(1, ${own + others}) as n, lateral (select timestamptz '2026-02-01' + n * interval '1 minute' as at) as each`;
  await database.sql`analyze conversations.conversation, conversations.turn`;
  const filter = { ownerId: 'away', agentId: undefined, level: undefined, search: undefined };
  let found: readonly { id: string }[] = [];
  const rows = await rowsRead(database.url, async (sql) => {
    found = await new ConversationLogQueries(new ReadModels(sql)).newest(filter, 10);
  });
  expect(found.map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, n) => `many-${own - n}`));
  expect(rows).toBeLessThan(others / 2);
});
