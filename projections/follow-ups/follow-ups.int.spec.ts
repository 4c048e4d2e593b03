import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { expiredFollowUpsStream } from '../../src/background/follow-ups/expired-follow-ups.events.js';
import { type FollowUpsEvent, followUpsStream } from '../../src/background/follow-ups/follow-ups.events.js';
import { inPostgres } from '../../test/contracts/read-models/read-model.subject.js';
import { waitingFollowUpsContract } from '../../test/contracts/read-models/follow-ups.contract.js';
import { ReadModels } from '../read-models.js';
import { TEXT_HEAD_CHARACTERS, followUps } from './follow-ups.projection.js';
import { FollowUpQueries } from './follow-ups.queries.js';
import { at, requested, gathered } from '../../test/contracts/read-models/follow-ups.given.js';

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: FollowUpQueries;
const given = (second: number, id: string, ...events: FollowUpsEvent[]) =>
  model.given(followUpsStream(id), events, { at: at(second) });
const followUp = async (id: string) => (await database.sql`select * from follow_ups.follow_up where follow_up_id = ${id}`)[0]!;
const stateOf = async (id: string) => {
  const found = await followUp(id);
  return ['state', 'turn_id', 'reason', 'settled_at'].map((column) => found[column] as unknown);
};

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(followUps, database.sql);
  queries = new FollowUpQueries(new ReadModels(database.sql));
  await given(1, 'c1', requested('c1', 'w1', { text: `${'😀'.repeat(TEXT_HEAD_CHARACTERS)}!` }), requested('c1', 'w2'));
  await given(2, 'c2', requested('c2', 'w3', { source: 'monitor' }));
  await given(3, 'c3', requested('c3', 'other', { ownerId: 'bob' }));
});
afterAll(() => database.close());

describe('the outcome of a follow-up', () => {
  it('is claimed when it is gathered, and delivered or merged afterwards', async () => {
    await given(5, 'c1', gathered('c1', 't3', 'w1', 'w2'));
    expect(await stateOf('w1')).toEqual(['claimed', 't3', null, null]);
    const told = { conversationId: 'c1', turnId: 't3' };
    await given(
      6,
      'c1',
      { type: 'FollowUpDelivered', data: { ...told, followUpId: 'w1' } },
      { type: 'FollowUpMerged', data: { ...told, followUpId: 'w2' } },
    );
    expect(await stateOf('w1')).toEqual(['delivered', 't3', null, at(6)]);
    expect(await stateOf('w2')).toEqual(['merged', 't3', null, at(6)]);
    expect(await queries.statesOf(['w1', 'w3', 'unknown'])).toEqual(
      new Map([
        ['w1', 'delivered'],
        ['w3', 'pending'],
      ]),
    );
  });
});

describe('waiting follow-ups', () =>
  waitingFollowUpsContract(() => inPostgres(followUps, (readModels) => new FollowUpQueries(readModels))));

describe('follow-ups', () => {
  it('have the first characters of their text', async () => {
    const oldest = await followUp('w1');
    expect(oldest).toMatchObject({
      source: 'job',
      owner_id: 'ann',
      ref_id: 'ref w1',
      dedupe_key: 'key w1',
      requested_at: at(1),
      conversation_id: 'c1',
    });
    expect([...(oldest['text_head'] as string)]).toHaveLength(TEXT_HEAD_CHARACTERS);
  });
  it('have the reason why they were not delivered', async () => {
    await given(
      7,
      'c4',
      requested('c4', 'w4'),
      requested('c4', 'w5'),
      requested('c4', 'w6'),
      gathered('c4', 't4', 'w4', 'w5', 'w6'),
    );
    await given(
      8,
      'c4',
      { type: 'FollowUpSuppressed', data: { conversationId: 'c4', followUpId: 'w4', reason: 'too-many-in-a-row' } },
      { type: 'FollowUpSuperseded', data: { conversationId: 'c4', followUpId: 'w5' } },
      { type: 'FollowUpFailed', data: { conversationId: 'c4', followUpId: 'w6', error: 'No.\0' } },
    );
    expect(await stateOf('w4')).toEqual(['suppressed', null, 'too-many-in-a-row', at(8)]);
    expect(await stateOf('w5')).toEqual(['superseded', null, null, at(8)]);
    expect(await stateOf('w6')).toEqual(['failed', null, 'No.\uFFFD', at(8)]);
    expect(await queries.waiting(10)).not.toContain('c4');
  });
});

it('the read model is unchanged by repeated events and the same after a rebuild', async () => {
  await model.again();
  await model.expectSameAfterRebuild();
});

it('expired follow-ups are removed, whether their own events are still in the log or not', async () => {
  await given(10, 'c5', requested('c5', 'w7'), { type: 'FollowUpSuperseded', data: { conversationId: 'c5', followUpId: 'w7' } });
  const isDue = async (second: number) => (await queries.settledBefore(at(second), 100)).some(({ id }) => id === 'c5');
  expect([await isDue(10), await isDue(11)]).toEqual([false, true]);
  const data = { conversationId: 'c5', followUpIds: ['w7'], from: 0, before: 2, expiredAt: '' };
  await model.given(expiredFollowUpsStream('c5'), [{ type: 'FollowUpsExpired', data }]);
  expect(await isDue(11)).toBe(false);
  await model.again();
  await model.expectSameAfterRebuild();
  await model.expectSameAfterRebuild(({ stream }) => stream !== followUpsStream('c5'));
});
