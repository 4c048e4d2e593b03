import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Sql } from 'postgres';
import { type TestDatabase, serviceDatabase } from '../test/support/postgres-for-tests.js';
import { rowsRead } from '../test/support/rows-read.js';
import { type AuditFilter, AuditLogQueries } from './audit-log/audit-log.queries.js';
import { ConversationLogQueries } from './conversations/conversation-log.queries.js';
import { ConversationSearchQueries } from './conversations/conversation-search.queries.js';
import { MessageAnalyticsQueries } from './conversations/message-analytics.queries.js';
import { ReadModels } from './read-models.js';
import { RunLogQueries } from './runs/run-log.queries.js';
import { ScheduleAnalyticsQueries } from './schedules/schedule-analytics.queries.js';
import { ScheduleLogQueries } from './schedules/schedule-log.queries.js';
import { TaskQueries } from './tasks/tasks.queries.js';
import { UnsealedTurnQueries } from './unsealed-turns/unsealed-turns.queries.js';
import { WorkflowRunLogQueries } from './workflow-runs/workflow-run-log.queries.js';
import { WorkflowRunQueries } from './workflow-runs/workflow-runs.queries.js';

/** The number of rows of each kind, one a minute, or one an hour of events. */
const MANY = 4_000;
/** The number of scheduled runs of another user, before all others. */
const EARLIER = 1_000;
/** The number of conversations of another user, and the rows that a search of them may look at, also those of all users. */
const SEARCHED = 60;
const SEARCH_ROWS = 1_500;
const PAGE = 11;
/** The rows that a read of a page or of an hour may look at: some for each one that it returns. */
const FEW = 300;
const NOW = new Date('2026-03-01T12:00:00Z');

let database: TestDatabase;
const read = (of: (readModels: ReadModels) => Promise<unknown>) => rowsRead(database.url, (sql: Sql) => of(new ReadModels(sql)));

beforeAll(async () => {
  database = await serviceDatabase();
  const { sql } = database;
  await sql`
    insert into conversations.conversation (conversation_id, owner_id, name, visibility, shared_usage, started_at)
    select 'c' || n, 'ann', 'Why', 'listed', false, ${NOW}::timestamptz - n * interval '1 minute' from generate_series(1, ${MANY}::integer) n`;
  await sql`
    insert into conversations.turn (turn_id, conversation_id, index, status, question, request_id, model_id, response, sealed,
      asked_at, changed_at, ended, feedback, feedback_at, asked_agent_id)
    select 't' || n, 'c' || n, 0, 'answered', 'Why is the sky blue?', 'r', 'm', repeat(md5(n::text), 30), true, at, at, 3, 'like', at,
      case n % 2 when 1 then 'guide' end
    from generate_series(1, ${MANY}::integer) n, lateral (select ${NOW}::timestamptz - n * interval '1 minute' as at) as past`;
  await sql`
    insert into conversations.conversation (conversation_id, owner_id, name, visibility, shared_usage, started_at)
    select 'b' || n, 'bob', 'How', 'listed', false, ${NOW}::timestamptz - n * interval '1 minute' from generate_series(1, ${SEARCHED}::integer) n`;
  await sql`
    insert into conversations.turn (turn_id, conversation_id, index, status, question, request_id, model_id, sealed, asked_at, changed_at, ended)
    select 'b' || n, 'b' || n, 0, 'answered', 'How high is it?', 'r', 'm', true, ${NOW}::timestamptz - interval '9 days',
      ${NOW}::timestamptz - interval '9 days', 3 from generate_series(1, ${SEARCHED}::integer) n`;
  await sql`
    insert into runs.run (run_id, owner_id, agent_id, status, input, output, queued_at, started_at, finished_at)
    select 'r' || n, 'ann', 'guide', 'success', '{}', repeat(md5(n::text), 30), at, at, at
    from generate_series(1, ${MANY}::integer) n, lateral (select ${NOW}::timestamptz - n * interval '1 minute' as at) as past`;
  await sql`
    insert into schedules.schedule (schedule_id, owner_id, created_via, status, instruction, trigger_type, timezone, tool_allowlist,
      marked_since, created_at, updated_at)
    select 's' || n, case when n < 10 then 'ann' else 'bob' end, 'ui', 'active', 'Look.', 'recurring', 'UTC', '[]', ${NOW}, ${NOW}, ${NOW}
    from generate_series(0, 19) n`;
  await sql`
    insert into schedules.run (run_id, schedule_id, status, trigger_source, scheduled_for, started_at, finished_at, output, created_at, updated_at)
    select 'r' || n, 's' || n % 10 + case when n > ${MANY} then 10 else 0 end, 'success', 'cron', at, at, at, repeat(md5(n::text), 30), at, at
    from generate_series(1, ${MANY + EARLIER}::integer) n, lateral (select ${NOW}::timestamptz - n * interval '1 minute' as at) as past`;
  await sql`
    insert into audit_log.event (position, event_id, stream, revision, type, at, actor, data)
    select n, n, 'run-' || n, 0, case when n = ${MANY} then 'RunRefused' when n % 40 = 1 then 'RunFinished' else 'RunQueued' end,
      ${NOW}::timestamptz - (${MANY}::integer - n) * interval '1 hour', 'user:' || case n % 2 when 0 then n % 4 / 2 else n % 400 end, repeat(md5(n::text), 30)
    from generate_series(1, ${MANY}::integer) n`;
  await sql`
    insert into audit_log.event (position, event_id, stream, revision, type, at, actor, data)
    select ${MANY + 1}, 'quiet', 'user-quiet', 0, 'RunQueued', ${NOW}, 'user:quiet', '{}'`;
  await sql`
    insert into tasks.task (task_id, kind, owner_id, status, queued_at, changed_at)
    select 't' || n, 'webhook-run', case when n % 1000 = 0 then 'bob' else 'ann' end, 'queued', ${NOW}::timestamptz + n * interval '1 second', ${NOW}::timestamptz + n * interval '1 second'
    from generate_series(1, ${MANY}::integer) n`;
  await sql`
    insert into workflow_runs.workflow_run (workflow_run_id, workflow_id, owner_id, workflow_owner_id, status, started_at, ended_at)
    select 'w' || n, 'g' || n % 40, 'ann', 'ann', 'completed', at, at
    from generate_series(1, ${MANY}::integer) n, lateral (select ${NOW}::timestamptz - n * interval '1 minute' as at) as past`;
  await sql`
    insert into unsealed_turns.unsealed_turn (turn_id, conversation_id, producer, expires_at, since)
    select 't' || n, 'c' || n, case when n > 1 then 'dead' end, case when n > 2 then ${NOW}::timestamptz + n * interval '1 minute' end, ${NOW}
    from generate_series(1, ${MANY}::integer) n`;
  for (const table of [
    'unsealed_turns.unsealed_turn',
    'conversations.conversation',
    'conversations.turn',
    'runs.run',
    'schedules.schedule',
    'schedules.run',
    'audit_log.event',
    'tasks.task',
    'workflow_runs.workflow_run',
  ])
    await sql.unsafe(`vacuum analyze ${table}`);
});
afterAll(() => database.close());

describe('a page of the log, and the counts of an hour, read few rows of a long history', () => {
  const filter = { ownerId: 'ann', agentId: undefined, level: undefined, search: undefined };
  const hour = { since: new Date(NOW.getTime() - 3_600_000), until: NOW, format: 'HH24:MI' };
  const days = { ...hour, since: new Date(NOW.getTime() - (MANY + 50) * 60_000) };
  const owner = { ownerId: 'ann' };
  const rare = { type: 'RunRefused', visibleActors: ['user:0', 'user:1'] };
  const keys = Array.from({ length: 50 }, (_, key) => `key:${key}`);
  const silent = ['user:quiet', ...keys];
  const seldom = { type: 'RunFinished', visibleActors: ['user:1', ...keys] };
  const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000);
  const events = async (models: ReadModels, filter: AuditFilter) => {
    const auditLog = new AuditLogQueries(models);
    return (await auditLog.page(await auditLog.located(filter), -1n, PAGE)).events;
  };

  it.each<[string, (readModels: ReadModels) => Promise<readonly unknown[]>]>([
    ['the newest answers', (models) => new ConversationLogQueries(models).newest(filter, PAGE)],
    ['the newest runs of webhooks', (models) => new RunLogQueries(models).newest(filter, PAGE)],
    ['the newest runs of schedules', (models) => new ScheduleLogQueries(models).newest(filter, PAGE)],
    [
      'the newest runs of schedules, before those of others',
      (models) => new ScheduleLogQueries(models).newest({ ...filter, ownerId: 'bob' }, PAGE),
    ],
    ['the newest runs of workflows', (models) => new WorkflowRunLogQueries(models).newest(filter, undefined, PAGE)],
    ['the questions of an hour', (models) => new MessageAnalyticsQueries(models).messages(owner, hour)],
    [
      'the questions to an agent in an hour',
      (models) => new MessageAnalyticsQueries(models).messages({ agentId: 'guide' }, hour),
    ],
    ['the ratings of an hour', (models) => new MessageAnalyticsQueries(models).feedback(owner, hour)],
    ['the scheduled runs of an hour', (models) => new ScheduleAnalyticsQueries(models).runs(owner, hour)],
    [
      'the scheduled runs of days with many of others',
      (models) => new ScheduleAnalyticsQueries(models).runs({ ownerId: 'bob' }, days),
    ],
    ['the events of a rare type', (models) => events(models, rare)],
    ['the events of a type that a user with many events and keys caused seldom', (models) => events(models, seldom)],
    ['the events of a user among many, whose keys did nothing', (models) => events(models, { visibleActors: silent })],
    ['the events since a late time', (models) => events(models, { from: hoursAgo(5) })],
    ['the events between two late times', (models) => events(models, { from: hoursAgo(5), to: hoursAgo(2) })],
    ['the events before an early time', (models) => events(models, { to: hoursAgo(MANY - 5) })],
  ])('%s', async (_, of) => {
    expect((await of(new ReadModels(database.sql))).length).toBeGreaterThan(0);
    expect(await read(of)).toBeLessThan(FEW);
  });

  it.each<[string, (readModels: ReadModels) => Promise<readonly unknown[]>]>([
    ['a text', (models) => new ConversationLogQueries(models).newest({ ...filter, search: 'green' }, PAGE)],
    ['a level', (models) => new ConversationLogQueries(models).newest({ ...filter, level: 'error' }, PAGE)],
  ])('a page of entries with %s looks up no answer twice if none matches', async (_, of) => {
    expect(await of(new ReadModels(database.sql))).toEqual([]);
    expect(await read(of)).toBeLessThanOrEqual(2 * MANY);
  });
});

it('the next tasks of a long queue are found without reading the queue', async () => {
  const next = (models: ReadModels) => new TaskQueries(models).unstarted(NOW, PAGE);
  expect((await next(new ReadModels(database.sql))).filter(({ ownerId }) => ownerId === 'bob')).toHaveLength(4);
  expect(await read(next)).toBeLessThan(FEW);
  const ofAll = (models: ReadModels) => new TaskQueries(models).unstartedAfter(undefined, 'queued', NOW, PAGE);
  expect(await ofAll(new ReadModels(database.sql))).toHaveLength(PAGE);
  expect(await read(ofAll)).toBeLessThan(FEW);
});

it.each<[string, (queries: UnsealedTurnQueries) => Promise<readonly unknown[]>]>([
  ['that no runner has taken', (queries) => queries.untaken(PAGE)],
  ['with their producers', async (queries) => (await queries.taken(PAGE)).paused],
  ['of a lost producer', (queries) => queries.takenBy(['dead'], [], PAGE)],
  ['whose pause has expired', (queries) => queries.expired(new Date(NOW.getTime() + 9 * 60_000), PAGE)],
])('the unsealed turns %s are found without reading all that are paused', async (_, of) => {
  const found = (models: ReadModels) => of(new UnsealedTurnQueries(models));
  expect((await found(new ReadModels(database.sql))).length).toBeGreaterThan(0);
  expect(await read(found)).toBeLessThan(FEW);
});

it('the runs of a deleted workflow are found without reading those of others, also before the deletions are analyzed', async () => {
  await database.sql`insert into workflow_runs.deleted_workflow (workflow_id, deleted_at) values ('g1', ${NOW})`;
  const first = await new WorkflowRunQueries(new ReadModels(database.sql)).ofDeletedWorkflows(PAGE, undefined);
  expect(first).toHaveLength(PAGE);
  for (const after of [undefined, first.at(-1)])
    expect(await read((models) => new WorkflowRunQueries(models).ofDeletedWorkflows(PAGE, after))).toBeLessThan(FEW);
});

it('a search for a text that many other users have, but not this one, looks up few of theirs', async () => {
  const search = (models: ReadModels) => new ConversationSearchQueries(models).search('bob', 'the sky', PAGE);
  expect(await search(new ReadModels(database.sql))).toEqual([]);
  expect(await read(search)).toBeLessThan(SEARCH_ROWS);
});
