import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { projecting } from '../../test/support/projecting.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { settings } from '../../test/support/turns.js';
import { conversationStream, type ConversationEvent } from '../../src/conversation/conversation.events.js';
import { ReadModels } from '../read-models.js';
import { unsealedTurns } from './unsealed-turns.projection.js';
import { UnsealedTurnQueries } from './unsealed-turns.queries.js';

const asked = (conversationId: string, turnId: string): ConversationEvent => ({
  type: 'TurnAsked',
  data: { conversationId, turnId, index: 0, question: 'Why?', requestId: 'r', settings },
});
const taken = (conversationId: string, turnId: string, producer: string): ConversationEvent => ({
  type: 'TurnStarted',
  data: { conversationId, turnId, producer },
});
const sealed = (conversationId: string, turnId: string): ConversationEvent => ({
  type: 'TurnSealed',
  data: { conversationId, turnId, lastId: 1, frames: 2, sha256: 'ab' },
});

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const idsOf = (turns: readonly { turnId: string }[]) => turns.map(({ turnId }) => turnId);

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: UnsealedTurnQueries;

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(unsealedTurns, database.sql);
  queries = new UnsealedTurnQueries(new ReadModels(database.sql));
  const given = (second: number, id: string, ...events: ConversationEvent[]) =>
    model.given(conversationStream(id), events, { at: at(second) });
  await given(1, 'c1', asked('c1', 'waiting'));
  await given(2, 'c2', asked('c2', 'waiting too'));
  await given(3, 'c3', asked('c3', 'first of p1'), taken('c3', 'first of p1', 'p1'));
  await given(4, 'c4', asked('c4', 'second of p1'), taken('c4', 'second of p1', 'p1'));
  await given(5, 'c5', asked('c5', 'of p2'), taken('c5', 'of p2', 'p2'));
  await given(6, 'c6', asked('c6', 'done'), taken('c6', 'done', 'p3'), sealed('c6', 'done'));
  await given(7, 'c1', { type: 'ConversationDeleted', data: { conversationId: 'c1' } });
});
afterAll(() => database.close());

it('nobody has taken what was only asked, though its conversation be deleted: its stream wants an end', async () => {
  expect(idsOf(await queries.untaken(at(9), 10))).toEqual(['waiting', 'waiting too']);
  expect(idsOf(await queries.untaken(at(2), 10))).toEqual(['waiting']);
  expect(idsOf(await queries.untaken(at(9), 1))).toEqual(['waiting']);
});

it('producers are those of turns that are not complete', async () => {
  expect([...(await queries.producers())].sort()).toEqual(['p1', 'p2']);
});

it('what producers have taken comes without what is known to be under way', async () => {
  expect(idsOf(await queries.takenBy(['p1', 'p2'], ['second of p1'], 10))).toEqual(['first of p1', 'of p2']);
  expect(idsOf(await queries.takenBy(['p1'], [], 1))).toEqual(['first of p1']);
  expect(await queries.takenBy([], [], 10)).toEqual([]);
});

it('says the same after a rebuild, and when everything comes twice', async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});
