import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type GuardrailRecordEvent, guardrailStream } from '../../src/resources/guardrails/guardrail-record.events.js';
import type { GuardrailDecision } from '../../src/resources/guardrails/guardrail-decisions.policy.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { ReadModels } from '../read-models.js';
import { guardrailEvents } from './guardrail-events.projection.js';
import { GuardrailEventQueries } from './guardrail-events.queries.js';

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const masked: GuardrailDecision = {
  stage: 'output',
  check: 'pii',
  detector: 'pattern',
  action: 'redact',
  outcome: 'triggered',
  category: 'EMAIL',
  score: null,
  matchCount: 1,
};
const judged: GuardrailDecision = {
  ...masked,
  check: 'policy',
  detector: 'judge',
  outcome: 'not_evaluated',
  category: null,
  matchCount: 0,
};
const recorded = (
  recordId: string,
  on: number,
  decisions: readonly GuardrailDecision[],
  agentId: string | null = 'a1',
): GuardrailRecordEvent => ({
  type: 'GuardrailDecisionsRecorded',
  data: {
    ...{ recordId, ownerId: 'ann', agentId, messageId: recordId, requestId: 'r\0' },
    decisions,
    recordedAt: day(on).toISOString(),
  },
});

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: GuardrailEventQueries;
const given = (event: GuardrailRecordEvent) => model.given(guardrailStream(event.data.recordId), [event]);

beforeAll(async () => {
  database = await testDatabase();
  model = await projecting(guardrailEvents, database.sql);
  queries = new GuardrailEventQueries(new ReadModels(database.sql));
  await given(recorded('m1', 1, [masked, judged]));
  await given(recorded('m2', 2, [{ ...masked, action: 'block' }]));
  await given(recorded('m3', 3, [masked], null));
});
afterAll(() => database.close());

describe('decisions of guardrails', () => {
  it('are listed only for their owner, the newest first', async () => {
    const events = await queries.page({ ownerId: 'ann' }, 10, 0);
    expect(events.map(({ id }) => id)).toEqual(['m3:output:pii', 'm2:output:pii', 'm1:output:pii', 'm1:output:policy']);
    expect(events[3]).toEqual({
      ...{ id: 'm1:output:policy', agentId: 'a1', messageId: 'm1', requestId: 'r\uFFFD', stage: 'output', check: 'policy' },
      ...{ detector: 'judge', action: 'redact', outcome: 'not_evaluated', category: null, score: null, matchCount: 0 },
      createdAt: day(1),
    });
    expect(await queries.page({ ownerId: 'bob' }, 10, 0)).toEqual([]);
    expect((await queries.page({ ownerId: 'ann', agentId: 'a1' }, 1, 1)).map(({ messageId }) => messageId)).toEqual(['m1']);
  });

  it('are counted since a time', async () => {
    expect(await queries.counts({ ownerId: 'ann' }, day(1))).toEqual([
      { check: 'pii', stage: 'output', action: 'redact', outcome: 'triggered', category: 'EMAIL', total: 2 },
      { check: 'pii', stage: 'output', action: 'block', outcome: 'triggered', category: 'EMAIL', total: 1 },
      { check: 'policy', stage: 'output', action: 'redact', outcome: 'not_evaluated', category: null, total: 1 },
    ]);
    expect(await queries.counts({ ownerId: 'ann', agentId: 'a1' }, day(2))).toHaveLength(1);
  });

  it('are replaced by a later decision of the same check', async () => {
    await given(recorded('m2', 2, [{ ...masked, action: 'block', matchCount: 4 }]));
    const [event, ...others] = (await queries.page({ ownerId: 'ann' }, 10, 0)).filter(({ messageId }) => messageId === 'm2');
    expect([event?.matchCount, others]).toEqual([4, []]);
  });

  it('are due until they are purged, the oldest record first', async () => {
    const [first] = await queries.recordedBefore(day(3), 1);
    expect(first).toEqual({ id: 'm1', since: day(1) });
    expect((await queries.recordedBefore(day(3), 9, first)).map(({ id }) => id)).toEqual(['m2']);
    await given({ type: 'GuardrailRecordPurged', data: { recordId: 'm1' } });
    expect((await queries.recordedBefore(day(3), 9)).map(({ id }) => id)).toEqual(['m2']);
    expect((await queries.page({ ownerId: 'ann' }, 10, 0)).map(({ messageId }) => messageId)).toEqual(['m3', 'm2']);
  });

  it('are unchanged by repeated events and the same after a rebuild', async () => {
    const before = await queries.page({ ownerId: 'ann' }, 10, 0);
    await model.again();
    expect(await queries.page({ ownerId: 'ann' }, 10, 0)).toEqual(before);
    await model.expectSameAfterRebuild();
    await model.expectSameAfterRebuild(
      ({ stream, type }) => stream !== guardrailStream('m1') || type === 'GuardrailRecordPurged',
    );
  });
});
