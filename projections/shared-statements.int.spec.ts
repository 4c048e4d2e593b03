import { afterAll, beforeAll, expect, it } from '@jest/globals';
import postgres, { type Sql } from 'postgres';
import { type RunEvent, runStream } from '../src/background/runs/run.events.js';
import { TYPES } from '../src/platform/postgres/database.js';
import { type TaskEvent, taskStream } from '../src/work/tasks/task.events.js';
import { type TestDatabase, testDatabase } from '../test/support/postgres-for-tests.js';
import { projecting } from '../test/support/projecting.js';
import { turnSettings } from '../test/support/turn-settings.js';
import type { Projection } from './projection.js';
import { runs } from './runs/runs.projection.js';
import { tasks } from './tasks/tasks.projection.js';

const SUBJECTS = 100;
/** The statements of a page and of the comparison after it, however many events the page has. */
const STATEMENTS_MAX = 60;

const ofTask = (taskId: string): readonly TaskEvent[] => [
  { type: 'TaskQueued', data: { taskId, kind: 'run-agent', ownerId: 'ann', input: {} } },
  { type: 'TaskStarted', data: { taskId, attempt: 1, claim: 'w1' } },
  { type: 'TaskProgressed', data: { taskId, attempt: 1, percent: 40 } },
  { type: 'TaskSucceeded', data: { taskId, attempt: 1, result: { inline: { status: 'success' } } } },
];
const answer = { answer: 'Yes.', thought: '', sources: [], toolCalls: [], structured: false };
const ofRun = (runId: string): readonly RunEvent[] => [
  { type: 'RunQueued', data: { runId, ownerId: 'ann', agentId: 'guide', trigger: 'webhook', input: '{}' } },
  { type: 'RunStarted', data: { runId, attempt: 1, settings: turnSettings() } },
  { type: 'RunFinished', data: { runId, attempt: 1, ...answer, modelId: 'm', usage: null, error: null } },
];

let database: TestDatabase;
let sql: Sql;
let statements = 0;

beforeAll(async () => {
  database = await testDatabase();
  sql = postgres(database.url, { max: 10, onnotice: () => undefined, types: TYPES, fetch_types: false, debug: () => void statements++ }); // oxfmt-ignore
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

it.each<[string, Projection, (id: string) => readonly (TaskEvent | RunEvent)[], (id: string) => string]>([
  ['tasks', tasks, ofTask, taskStream],
  ['runs', runs, ofRun, runStream],
])('the events of a page of %s share statements', async (_, projection, eventsOf, streamOf) => {
  const model = await projecting(projection, sql);
  for (let n = 0; n < SUBJECTS; n++) await model.given(streamOf(`s${n}`), eventsOf(`s${n}`));
  statements = 0;
  await model.expectSameAfterRebuild();
  expect(statements).toBeLessThan(STATEMENTS_MAX);
});
