import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import { continuationStream } from '../../src/dialogue/answering/continuations/continuation.events.js';
import { type ResearchEvent, researchStream } from '../../src/dialogue/answering/research/research.events.js';
import { conversationStream } from '../../src/dialogue/conversation/conversation.events.js';
import { journalsStream } from '../../src/dialogue/journal/journals.events.js';
import { type RunEvent, runStream } from '../../src/background/runs/run.events.js';
import { type ResponseCreated, type ResponseEvent, responseStream } from '../../src/dialects/openai/responses/response.events.js';
import { type ScheduleEvent, scheduleStream } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { type ScheduledRunEvent, scheduledRunStream } from '../../src/triggers/schedules/runs/scheduled-run.events.js';
import { type OAuthEvent, oauthStream } from '../../src/resources/tools/mcp/sign-in/oauth.events.js';
import { deliveryStream } from '../../src/triggers/webhooks/delivery.events.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { projecting } from '../../test/support/projecting.js';
import { rowsRead } from '../../test/support/rows-read.js';
import { ReadModels } from '../read-models.js';
import { expiring, NEWEST_RUNS_KEPT } from './expiring.projection.js';
import { ExpiringQueries } from './expiring.queries.js';

let database: TestDatabase;
let model: Awaited<ReturnType<typeof projecting>>;
let queries: ExpiringQueries;
beforeAll(async () => {
  database = await testDatabase();
  queries = new ExpiringQueries(new ReadModels(database.sql));
});
afterAll(() => database.close());
beforeEach(async () => {
  model = await projecting(expiring, database.sql);
});

const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const ids = (due: readonly Readonly<{ id: string }>[]) => due.map(({ id }) => id);

it('the clock of the database shows the time', async () => {
  expect(Math.abs((await queries.now()).getTime() - Date.now())).toBeLessThan(3_600_000);
});

describe('webhook runs', () => {
  const delivered = (runId: string, key: string, at: Date) =>
    model.given(
      deliveryStream(key),
      [
        {
          type: 'DeliveryAccepted',
          data: { agentId: 'a', ownerId: 'ann', taskId: runId, fingerprint: 'f', acceptedAt: at.toISOString(), input: '{}' },
        },
      ],
      { at },
    );
  const told = (runId: string, event: RunEvent, at: Date) => model.given(runStream(runId), [event], { at });
  const failed = (runId: string): RunEvent => ({ type: 'RunFailed', data: { runId, error: 'x' } });

  it('are due from their end until they are purged, in pages, with the place of their delivery', async () => {
    await delivered('one', 'key', day(1));
    await delivered('two', 'key', day(2));
    await delivered('under way', 'other', day(2));
    await told('two', failed('two'), day(4));
    await told('one', failed('one'), day(3));
    await told('of a schedule', failed('of a schedule'), day(3));
    const stream = deliveryStream('key');
    const [one] = await queries.webhookRuns(day(9), 1);
    expect(one).toEqual({ id: 'one', since: day(3), stream, revision: 0 });
    expect(ids(await queries.webhookRuns(day(9), 5, one))).toEqual(['two']);
    expect(ids(await queries.webhookRuns(day(4), 5))).toEqual(['one']);
    const data = { ownerId: 'ann', agentId: 'a', trigger: 'webhook', delivery: null, used: [], purgedAt: '' } as const;
    await told('one', { type: 'RunPurged', data: { runId: 'one', ...data } }, day(5));
    expect(ids(await queries.webhookRuns(day(9), 5))).toEqual(['two']);
    await model.again();
    await model.expectSameAfterRebuild();
    await model.expectSameAfterRebuild(
      (event) =>
        (event.stream !== runStream('one') || event.type === 'RunPurged') && (event.stream !== stream || event.revision > 0),
    );
  });
});

describe('the output of scheduled runs', () => {
  const told = (event: ScheduledRunEvent, at: Date) => model.given(scheduledRunStream(event.data.runId), [event], { at });
  const report = { output: 'Hello', isOutputTruncated: false, error: null, promptTokens: 1, generatedTokens: 1 };
  const requested = (scheduleId: string, runId: string, at: Date): ScheduleEvent => ({
    type: 'ScheduleRunRequested',
    data: { scheduleId, runId, requestedAt: at.toISOString() },
  });
  const deleted = (scheduleId: string): ScheduleEvent => ({ type: 'ScheduleDeleted', data: { scheduleId, deletedAt: '' } });
  async function ran(scheduleId: string, count: number) {
    for (let number = 0; number < count; number++) {
      const runId = `${scheduleId}-${String(number).padStart(2, '0')}`;
      const at = new Date(day(1).getTime() + number * 60_000);
      const slot = { slot: at.toISOString(), nextSlotAt: null, queuedAt: at.toISOString() };
      await model.given(scheduleStream(scheduleId), [{ type: 'ScheduleRunQueued', data: { scheduleId, runId, ...slot } }], {
        at,
      });
      await reported(scheduleId, runId, at);
    }
  }
  async function reported(scheduleId: string, runId: string, at: Date) {
    await told({ type: 'ScheduledRunQueued', data: { runId, scheduleId, ownerId: 'ann' } }, at);
    await told({ type: 'ScheduledRunReported', data: { runId, report } }, at);
  }
  const purged = (scheduleId: string, runId: string): ScheduledRunEvent => ({
    type: 'ScheduledRunOutputPurged',
    data: { runId, scheduleId, ownerId: 'ann', startedAt: null, promptTokens: 1, generatedTokens: 1, purgedAt: '' },
  });

  it(`is due once it is old, but for the ${NEWEST_RUNS_KEPT} newest runs of each schedule`, async () => {
    await ran('s', NEWEST_RUNS_KEPT + 2);
    await ran('t', NEWEST_RUNS_KEPT);
    expect(ids(await queries.scheduledOutputs(day(9), 100))).toEqual(['s-00', 's-01']);
    expect(ids(await queries.scheduledOutputs(new Date(day(1).getTime() + 1), 100))).toEqual(['s-00']);
    const [first] = await queries.scheduledOutputs(day(9), 1);
    expect(ids(await queries.scheduledOutputs(day(9), 100, first))).toEqual(['s-01']);
    await told(purged('s', 's-00'), day(8));
    expect(ids(await queries.scheduledOutputs(day(9), 100))).toEqual(['s-01']);
    await model.again();
    await model.expectSameAfterRebuild(
      ({ stream, type }) => stream !== scheduledRunStream('s-00') || type === 'ScheduledRunOutputPurged',
    );
  });

  it('is due also for the newest runs once the schedule is deleted', async () => {
    await ran('u', 2);
    expect(await queries.scheduledOutputs(day(9), 100)).toEqual([]);
    await model.given(scheduleStream('u'), [deleted('u')]);
    expect(ids(await queries.scheduledOutputs(day(9), 100))).toEqual(['u-00', 'u-01']);
  });

  it('is due also for a run that was requested before its schedule was deleted and queued after that', async () => {
    await model.given(scheduleStream('v'), [requested('v', 'v-00', day(1)), deleted('v')]);
    await reported('v', 'v-00', day(2));
    expect(ids(await queries.scheduledOutputs(day(9), 100))).toEqual(['v-00']);
  });

  it('is found without reading the output that is kept', async () => {
    await ran('w', NEWEST_RUNS_KEPT + 1);
    await database.sql`insert into expiring.scheduled_output (run_id, schedule_id, queued_at, since)
      select 'kept-' || n, 'kept-' || n, ${day(1)}, ${day(1)} from generate_series(1, 2000) n`;
    await database.sql`analyze expiring.scheduled_output`;
    const read = (sql: Sql) => new ExpiringQueries(new ReadModels(sql)).scheduledOutputs(day(9), 100);
    expect(ids(await read(database.sql))).toEqual(['w-00']);
    expect(await rowsRead(database.url, read)).toBe(1);
  });
});

describe('journals', () => {
  it('are due from their seal until their expiry is recorded', async () => {
    const sealed = (turnId: string, at: Date) =>
      model.given(
        conversationStream('c'),
        [{ type: 'TurnSealed', data: { conversationId: 'c', turnId, lastId: 1, frames: 2, sha256: '' } }],
        { at },
      );
    await sealed('one', day(1));
    await sealed('two', day(2));
    const [one] = await queries.journals(day(9), 1);
    expect(one).toEqual({ id: 'one', since: day(1) });
    expect(ids(await queries.journals(day(9), 9, one))).toEqual(['two']);
    await model.given(journalsStream('2026-01-01T00'), [
      { type: 'JournalsExpired', data: { sealedIn: '2026-01-01T00', turnIds: ['one'], expiredAt: '' } },
    ]);
    expect(ids(await queries.journals(day(9), 9))).toEqual(['two']);
    await model.again();
    await model.expectSameAfterRebuild();
  });
});

describe('responses', () => {
  it('are due from their creation until they are deleted or have expired, in pages', async () => {
    const told = (event: ResponseEvent, at: Date) => model.given(responseStream(event.data.responseId), [event], { at });
    for (const [number, responseId] of ['one', 'two', 'three', 'four'].entries()) {
      const data = { responseId, turnId: responseId } as ResponseCreated['data'];
      await told({ type: 'ResponseCreated', data }, day(number + 1));
    }
    const [one] = await queries.responses(day(4), 1);
    expect(one).toEqual({ id: 'one', since: day(1) });
    expect(ids(await queries.responses(day(4), 9, one))).toEqual(['two', 'three']);
    await told({ type: 'ResponseExpired', data: { responseId: 'one' } }, day(5));
    await told({ type: 'ResponseDeleted', data: { responseId: 'two' } }, day(5));
    expect(ids(await queries.responses(day(9), 9))).toEqual(['three', 'four']);
    await model.again();
    await model.expectSameAfterRebuild();
    await model.expectSameAfterRebuild(
      ({ stream, type }) => ![responseStream('one'), responseStream('two')].includes(stream) || type !== 'ResponseCreated',
    );
  });
});

describe('sign-ins at tool servers', () => {
  it('are due from their expiry time as long as they are unfinished', async () => {
    const told = (event: OAuthEvent) => model.given(oauthStream(event.data.handshakeId), [event]);
    for (const [number, handshakeId] of ['one', 'two', 'three', 'four'].entries()) {
      const expiresAt = day(number + 1).toISOString();
      const data = { handshakeId, ownerId: 'ann', serverUrl: 'https://tools.example', startedAt: expiresAt, expiresAt };
      await told({ type: 'OAuthHandshakeStarted', data });
    }
    const [one] = await queries.signIns(day(4), 1);
    expect(one).toEqual({ id: 'one', since: day(1) });
    expect(ids(await queries.signIns(day(4), 9, one))).toEqual(['two', 'three']);
    await told({ type: 'OAuthHandshakeFailed', data: { handshakeId: 'one', reason: 'No.' } });
    await told({ type: 'OAuthGranted', data: { handshakeId: 'two', credentialsId: 'c', tools: [] } });
    expect(ids(await queries.signIns(day(4), 9))).toEqual(['three']);
    await model.again();
    await model.expectSameAfterRebuild();
  });
});

describe('the continuation of a paused turn', () => {
  it('is due from the seal of the turn until it is dropped, if it belongs to the turn', async () => {
    const about = { conversationId: 'c', turnId: 't', answer: '', thought: '', sources: [], toolCalls: [], structured: false };
    const paused = (sha256: string, isOwn: boolean) => ({
      type: 'TurnPaused' as const,
      data: {
        ...about,
        calls: [],
        expiresAt: '',
        lastId: 1,
        modelId: 'm',
        usage: null,
        continuation: { blob: { sha256, size: 1 }, ...(isOwn && { isOwn: true as const }) },
      },
    });
    const sealed = { type: 'TurnSealed' as const, data: { conversationId: 'c', turnId: 't', lastId: 1, frames: 2, sha256: '' } };
    await model.given(conversationStream('c'), [paused('a', true), paused('b', true), paused('b', true), paused('x', false)]);
    expect(await queries.continuations(day(9), 9)).toEqual([]);
    await model.given(conversationStream('c'), [sealed], { at: day(2) });
    const [a] = await queries.continuations(day(9), 1);
    expect(a).toEqual({ id: 'a', since: day(2), turnId: 't' });
    expect(ids(await queries.continuations(day(9), 9, a))).toEqual(['b']);
    await model.given(continuationStream('t'), [{ type: 'ContinuationDropped', data: { turnId: 't', sha256: 'a' } }]);
    expect(ids(await queries.continuations(day(9), 9))).toEqual(['b']);
    await model.again();
    await model.expectSameAfterRebuild();
  });
});

describe('researches', () => {
  it('are due from the end of their turn or run, or else from their beginning, until they are purged', async () => {
    const told = (event: ResearchEvent, at: Date) => model.given(researchStream(event.data.turnId), [event], { at });
    const used = { elapsedMs: 1, promptTokens: 0, completionTokens: 0 };
    for (const turnId of ['one', 'two'])
      await told({ type: 'ResearchPlanned', data: { turnId, steps: [], complexity: 'simple', used } }, day(1));
    await told({ type: 'ResearchClarificationAsked', data: { turnId: 'three', text: 'Which?' } }, day(3));
    const sealed = { conversationId: 'c', turnId: 'one', lastId: 1, frames: 2, sha256: '' };
    await model.given(conversationStream('c'), [{ type: 'TurnSealed', data: sealed }], { at: day(5) });
    expect(ids(await queries.researches(day(4), 9))).toEqual(['two', 'three']);
    expect(ids(await queries.researches(day(9), 9))).toEqual(['two', 'three', 'one']);
    await told({ type: 'ResearchPurged', data: { turnId: 'two', blobs: [] } }, day(6));
    expect(ids(await queries.researches(day(9), 9))).toEqual(['three', 'one']);
    await model.again();
    await model.expectSameAfterRebuild();
    await model.expectSameAfterRebuild(({ stream, type }) => stream !== researchStream('two') || type === 'ResearchPurged');
  });

  it('are due at once when their run is purged', async () => {
    const [runId, about] = ['run', { ownerId: 'ann', agentId: null, trigger: 'webhook' as const }];
    await model.given(researchStream(runId), [{ type: 'ResearchClarificationAsked', data: { turnId: runId, text: 'Which?' } }], {
      at: day(1),
    });
    await model.given(runStream(runId), [{ type: 'RunFailed', data: { runId, error: 'x' } }], { at: day(5) });
    expect(ids(await queries.researches(day(4), 9))).not.toContain(runId);
    const purged = { runId, ...about, delivery: null, used: [], purgedAt: day(6).toISOString() };
    await model.given(runStream(runId), [{ type: 'RunPurged', data: purged }], { at: day(6) });
    expect(ids(await queries.researches(day(1), 9))).toEqual([runId]);
    await model.expectSameAfterRebuild(({ stream, type }) => stream !== runStream(runId) || type === 'RunPurged');
  });
});
