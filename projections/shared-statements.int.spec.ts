import { afterAll, beforeAll, expect, it } from '@jest/globals';
import postgres, { type Sql } from 'postgres';
import { type RunEvent, runStream } from '../src/background/runs/run.events.js';
import { type ConversationEvent, conversationStream } from '../src/dialogue/conversation/conversation.events.js';
import { TYPES } from '../src/platform/postgres/database.js';
import { type TaskEvent, taskStream } from '../src/work/tasks/task.events.js';
import { type TestDatabase, testDatabase } from '../test/support/postgres-for-tests.js';
import { projecting } from '../test/support/projecting.js';
import { turnSettings } from '../test/support/turn-settings.js';
import { analytics } from './analytics/analytics.projection.js';
import { auditLog } from './audit-log/audit-log.projection.js';
import type { Projection } from './projection.js';
import { runs } from './runs/runs.projection.js';
import { tasks } from './tasks/tasks.projection.js';
import { traces } from './traces/traces.projection.js';
import { usage } from './usage/usage.projection.js';

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

const at = '2026-01-01T00:00:00.000Z';
const by = { at, actor: 'link:shown', credential: 'link' } as const;
const told = [
  { promptTokens: 3, completionTokens: 1, revision: 2, at },
  { promptTokens: 9, completionTokens: 4, revision: 4, at },
];
const ofPurgedConversation = (conversationId: string): readonly ConversationEvent[] => {
  const about = { conversationId, ownerId: 'ann', keptFrom: 0 };
  const question = { ...by, revision: 1, agentId: 'guide', agentKeyId: null, origin: null, modelId: 'm' };
  const turns = [{ turnId: `${conversationId}-turn`, lastId: 3, question, told }];
  return [
    { type: 'TurnsPurged', data: { ...about, from: 0, turns } },
    { type: 'ConversationPurged', data: { ...about, agentId: 'guide', turns: 1, started: by, deleted: by, purgedAt: at } },
  ];
};
const ofPurgedRun = (runId: string): readonly RunEvent[] => [
  {
    type: 'RunPurged',
    data: {
      runId,
      ownerId: 'ann',
      agentId: 'guide',
      trigger: 'webhook',
      delivery: null,
      used: [{ ...told[0]!, requests: 1 }],
      purgedAt: at,
    },
  },
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

it.each<[string, Projection, (id: string) => readonly (TaskEvent | RunEvent | ConversationEvent)[], (id: string) => string]>([
  ['tasks', tasks, ofTask, taskStream],
  ['runs', runs, ofRun, runStream],
  ['the usage of purged conversations', usage, ofPurgedConversation, conversationStream],
  ['the usage of purged runs', usage, ofPurgedRun, runStream],
  ['the analytics of purged conversations', analytics, ofPurgedConversation, conversationStream],
  ['the audit log of purged conversations', auditLog, ofPurgedConversation, conversationStream],
  ['the traces of purged runs', traces, ofPurgedRun, runStream],
])('the events of a page of %s share statements', async (_, projection, eventsOf, streamOf) => {
  const model = await projecting(projection, sql);
  for (let n = 0; n < SUBJECTS; n++) await model.given(streamOf(`s${n}`), eventsOf(`s${n}`));
  statements = 0;
  await model.expectSameAfterRebuild();
  expect(statements).toBeLessThan(STATEMENTS_MAX);
});
