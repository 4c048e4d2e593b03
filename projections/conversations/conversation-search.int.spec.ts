import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import { type ConversationEvent, conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { definitionOf } from '../../src/platform/projections/definition.js';
import { createSchema, dropSchema } from '../../src/platform/projections/schema.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { rowsRead } from '../../test/support/rows-read.js';
import { Seeded } from '../../test/support/seeded.js';
import { turnSettings } from '../../test/support/turn-settings.js';
import { ReadModels } from '../read-models.js';
import { ConversationSearchQueries, OWN_READ_MAX, READ_AT_ONCE } from './conversation-search.queries.js';
import { conversations } from './conversations.projection.js';
import { ConversationQueries } from './conversations.queries.js';

const settings = turnSettings();
const started = (id: string, name: string, more: { ownerId?: string; visibility?: 'hidden' } = {}): ConversationEvent => ({
  type: 'ConversationStarted',
  data: {
    ...{ conversationId: id, ownerId: 'alice', agentId: null, name, visibility: 'listed', sharedUsage: false, history: [] },
    ...more,
  },
});
const asked = (id: string, turnId: string, question: string, index = 0): ConversationEvent => ({
  type: 'TurnAsked',
  data: { conversationId: id, turnId, index, question, requestId: 'r', settings },
});
const answered = (id: string, turnId: string, answer: string): ConversationEvent => ({
  type: 'TurnAnswered',
  data: {
    ...{ conversationId: id, turnId, answer, thought: '', sources: [], toolCalls: [], structured: false },
    ...{ modelId: 'm', usage: null },
  },
});
const deleted = (id: string): ConversationEvent => ({ type: 'ConversationDeleted', data: { conversationId: id } });
const superseded = (id: string): ConversationEvent => ({
  type: 'TurnsSuperseded',
  data: { conversationId: id, fromIndex: 0 },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ConversationSearchQueries;
const given = (id: string, ...events: ConversationEvent[]) => model.given(conversationStream(id), events);
const found = async (text: string, limit = 10, ownerId = 'alice') =>
  (await queries.search(ownerId, text, limit)).map(({ id, match_field: field }) => [id, field]);
/** As many conversations of an owner as are read without the index, without turns. By default they are newer than others. */
const fill = (ownerId: string, startedAt = new Date('2100-01-01')) => database.sql`
  insert into conversations.conversation (conversation_id, owner_id, name, visibility, shared_usage, started_at)
  select ${ownerId} || '-' || n, ${ownerId}, 'More', 'listed', false, ${startedAt} from generate_series(1, ${OWN_READ_MAX}::integer) n`;

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(conversations, database.sql);
  queries = new ConversationSearchQueries(new ReadModels(database.sql));
});
afterAll(() => database.close());

describe('the search', () => {
  const OTHERS = [
    started('bobs', 'half?', { ownerId: 'bob' }),
    started('hidden', 'half?', { visibility: 'hidden' }),
    started('gone', 'half?'),
    started('moved-on', 'Moved on'),
  ];

  beforeAll(async () => {
    await given(
      'c1',
      started('c1', 'First'),
      asked('c1', 't1', 'What is 50% of 100_000?'),
      answered('c1', 't1', 'It is HALF.\0'),
    );
    await given('c2', started('c2', 'Second'), asked('c2', 't2', 'Why?'));
    await given('c3', started('c3', 'Back\\slash'), asked('c3', 't3', 'Why not?'), asked('c3', 't4', 'Why not, really?', 1));
    for (const each of OTHERS) {
      const id = each.data.conversationId;
      await given(id, each, asked(id, `of ${id}`, 'half?'), answered(id, `of ${id}`, 'half!'));
    }
    await given('gone', deleted('gone'));
    await given('moved-on', superseded('moved-on'), asked('moved-on', 'next', 'Whole?'));
  });

  /** Runs a test twice: with the conversations among the newest, and behind so many newer ones that the index is used. */
  const everywhere = (title: string, check: () => Promise<void>) => {
    it(`${title}, among the newest conversations`, check);
    describe('behind many newer conversations', () => {
      beforeAll(() => fill('alice'));
      it(title, check);
      afterAll(() => database.sql`delete from conversations.conversation where conversation_id like 'alice-%'`);
    });
  };

  everywhere('finds a name, a question or an answer in any case, and the first match of each conversation', async () => {
    expect(await found('FIRST')).toEqual([['c1', 'name']]);
    expect(await found('why')).toEqual([
      ['c3', 'prompt'],
      ['c2', 'prompt'],
    ]);
    expect(await found('why', 1)).toEqual([['c3', 'prompt']]);
    expect(await found('it IS half')).toEqual([['c1', 'response']]);
    const [match] = await queries.search('alice', 'why', 10);
    expect(match).toMatchObject({ name: 'Back\\slash', match_snippet: 'Why not?', mark: 'running', shareId: null });
  });

  everywhere('treats %, _ and \\ as plain characters', async () => {
    for (const [text, count] of Object.entries({ '50% of': 1, '5_% of': 0, '100_000': 1, '100%000': 0, 'k\\s': 1, 'k\\\\s': 0 }))
      expect([text, (await found(text)).length]).toEqual([text, count]);
  });

  everywhere('finds nothing of other users and nothing hidden, deleted or superseded', async () => {
    expect(await found('half')).toEqual([['c1', 'response']]);
    expect(await found('half', 10, 'bob')).toEqual([['bobs', 'name']]);
  });
});

it('does not read the texts of others for a user with few conversations', async () => {
  await fill('carol');
  await database.sql`
    insert into conversations.turn (turn_id, conversation_id, index, status, question, request_id, model_id, asked_at, changed_at, ended)
    select 'others-' || n, 'others-' || n, 0, 'answered', 'The sky is blue.', 'r', 'm', now(), now(), 3 from generate_series(1, 5000) n`;
  await database.sql`analyze conversations.turn`;
  const search = (sql: Sql) => new ConversationSearchQueries(new ReadModels(sql)).search('carol', 'sky is', 10);
  expect(await rowsRead(database.url, search)).toBeLessThan(5 * OWN_READ_MAX);
  await database.sql`delete from conversations.turn where turn_id like 'others-%'`;
});

it('finds the same with and without the index as a search of all texts', async () => {
  await fill('rita', new Date(0));
  const random = new Seeded(5);
  const letters = ['a', 'B', 'ä', '%', '_', '\\', ' ', "'"];
  const text = (length: number) => Array.from({ length }, () => letters[random.between(0, letters.length - 1)]).join('');
  const all = Array.from({ length: 4 * READ_AT_ONCE }, (_, at) => ({
    id: `r${at}`,
    texts: [text(6), text(8), text(20)] as const,
  }));
  for (const { id, texts } of all) {
    const events = [started(id, texts[0], { ownerId: 'rita' }), asked(id, `t-${id}`, texts[1])];
    await given(id, ...events, ...(random.oneIn(4) ? [] : [answered(id, `t-${id}`, texts[2])]));
  }
  const rows = await database.sql<{ id: string; response: string }[]>`
    select conversation_id as id, response from conversations.turn where conversation_id like 'r%'`;
  const responses = new Map(rows.map(({ id, response }) => [id, response]));
  const expected = (sought: string) =>
    all
      .filter(({ id, texts: [name, question] }) =>
        [name, question, responses.get(id)!].some((each) => each.toLowerCase().includes(sought.toLowerCase())),
      )
      .map(({ id }) => id)
      .reverse();
  const sought = Array.from({ length: 60 }, () => text(random.between(1, 4))).filter((each) => each.trim() === each);
  const answers = async () => {
    const each: string[][] = [];
    for (const one of sought) each.push((await queries.search('rita', one, 1000)).map(({ id }) => id));
    return each;
  };
  const whole = sought.map(expected);
  expect(await answers()).toEqual(whole);
  await database.sql`set enable_seqscan = off`;
  expect(await answers()).toEqual(whole);
  await database.sql.unsafe('drop index conversations.turn_text; drop index conversations.conversation_name');
  expect(await answers()).toEqual(whole);
});

it('works without the index if the server has no pg_trgm', async () => {
  const definition = await definitionOf(conversations);
  const ddl = definition.ddl.replaceAll('pg_trgm', 'of_another_server');
  await dropSchema(database.sql, 'conversations');
  await createSchema(database.sql, { ...definition, ddl }, 'conversations');
  const indexes = await database.sql<{ name: string }[]>`
    select indexname as name from pg_indexes where schemaname = 'conversations' and indexdef like '%gin%'`;
  expect(indexes).toEqual([]);
  expect(await new ConversationQueries(new ReadModels(database.sql)).listed('alice', 10)).toEqual([]);
  expect(await found('half')).toEqual([]);
});
