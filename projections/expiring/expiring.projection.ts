import { continuationCodec } from '../../src/dialogue/answering/continuations/continuation.codec.js';
import type { ContinuationEvent } from '../../src/dialogue/answering/continuations/continuation.events.js';
import { conversationCodec } from '../../src/dialogue/conversation/conversation.codec.js';
import type { ConversationEvent } from '../../src/dialogue/conversation/conversation.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { journalsCodec } from '../../src/dialogue/journal/journals.codec.js';
import type { JournalsEvent } from '../../src/dialogue/journal/journals.events.js';
import { runCodec } from '../../src/background/runs/run.codec.js';
import type { RunEvent } from '../../src/background/runs/run.events.js';
import { scheduleCodec } from '../../src/triggers/schedules/schedule/schedule.codec.js';
import type { ScheduleEvent } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { scheduleRunCodec } from '../../src/triggers/schedules/runs/scheduled-run.codec.js';
import type { ScheduledRunEvent } from '../../src/triggers/schedules/runs/scheduled-run.events.js';
import { oauthCodec } from '../../src/resources/tools/mcp/sign-in/oauth.codec.js';
import type { OAuthEvent } from '../../src/resources/tools/mcp/sign-in/oauth.events.js';
import { deliveryCodec } from '../../src/triggers/webhooks/delivery.codec.js';
import type { DeliveryEvent } from '../../src/triggers/webhooks/delivery.events.js';
import { researchCodec } from '../../src/dialogue/answering/research/research.codec.js';
import type { ResearchEvent } from '../../src/dialogue/answering/research/research.events.js';
import { responseCodec } from '../../src/dialects/openai/responses/response.codec.js';
import type { ResponseEvent } from '../../src/dialects/openai/responses/response.events.js';
import {
  type Change,
  changeIn,
  defineProjection,
  type Derivation,
  derive,
  inSet,
  insertInto,
  removeFrom,
  type SetStatement,
} from '../projection.js';

/** The number of newest runs of each schedule whose output is kept at any age. */
export const NEWEST_RUNS_KEPT = 50;

type Noted =
  | ContinuationEvent
  | ConversationEvent
  | DeliveryEvent
  | JournalsEvent
  | OAuthEvent
  | ResearchEvent
  | ResponseEvent
  | RunEvent
  | ScheduleEvent
  | ScheduledRunEvent;

/** The data that retention deletes after a period, and the time from which the period counts. */
export const expiring = defineProjection<Noted>({
  name: 'expiring',
  version: 4,
  categories: [
    'continuation',
    'conversation',
    'delivery',
    'journals',
    'oauth',
    'research',
    'response',
    'run',
    'schedule',
    'scheduleRun',
  ],
  codec: {
    ...continuationCodec,
    ...conversationCodec,
    ...deliveryCodec,
    ...journalsCodec,
    ...oauthCodec,
    ...researchCodec,
    ...responseCodec,
    ...runCodec,
    ...scheduleCodec,
    ...scheduleRunCodec,
  },
  ddl: new URL('./expiring.sql', import.meta.url),

  on: {
    DeliveryAccepted: ({ data, stream, revision }) =>
      insertInto('webhook_run', { run_id: data.taskId, delivery_stream: stream, delivery_revision: revision }),
    RunFinished: runOver,
    RunRefused: runOver,
    RunFailed: runOver,
    // The event that ended the run may already be deleted from the log. The run is purged, so its research is due at once.
    RunPurged: ({ data }) => [
      removeFrom('webhook_run', { run_id: data.runId }),
      changeIn('research', { turn_id: data.runId }, { since: new Date(0) }),
    ],

    // Events of the schedule, because the run's own stream may begin only after the schedule is deleted.
    ScheduleRunQueued: ({ data: { runId, scheduleId, queuedAt } }) => runOf(scheduleId, runId, queuedAt),
    ScheduleRunRequested: ({ data: { runId, scheduleId, requestedAt } }) => runOf(scheduleId, runId, requestedAt),
    ScheduledRunReported: ({ data, at }) => changeIn('scheduled_output', { run_id: data.runId }, { since: at }),
    ScheduledRunOutputPurged: ({ data }) => removeFrom('scheduled_output', { run_id: data.runId }),
    ScheduleDeleted: ({ data }, sql) =>
      sql`update scheduled_output set schedule_id = null where schedule_id = ${data.scheduleId}`,

    // A turn that pauses again in the same state has the same continuation.
    TurnPaused: ({ data: { turnId, continuation } }, sql) =>
      'blob' in continuation && continuation.isOwn
        ? sql`insert into continuation (sha256, turn_id) values (${continuation.blob.sha256}, ${turnId}) on conflict do nothing`
        : [],
    ResearchClarificationAsked: ({ data, at }) => insertInto('research', { turn_id: data.turnId, since: at }),
    ResearchPlanned: ({ data, at }) => insertInto('research', { turn_id: data.turnId, since: at }),
    ResearchPurged: ({ data }) => removeFrom('research', { turn_id: data.turnId }),

    ResponseCreated: ({ data, at }) => insertInto('response', { response_id: data.responseId, since: at }),
    ResponseDeleted: ({ data }) => removeFrom('response', { response_id: data.responseId }),
    ResponseExpired: ({ data }) => removeFrom('response', { response_id: data.responseId }),

    TurnSealed: ({ data, at }) => [
      changeIn('research', { turn_id: data.turnId }, { since: at }),
      insertInto('journal', { turn_id: data.turnId, since: at }),
      inSet(SEALED_TURNS, { turn_id: data.turnId, at }),
    ],
    ConversationDeleted: ({ data, at }) =>
      insertInto('deleted_conversation', { conversation_id: data.conversationId, since: at }),
    TurnsPurged: ({ data }) => data.turns.map(({ turnId }) => removeFrom('journal', { turn_id: turnId })),
    ConversationPurged: ({ data }) => removeFrom('deleted_conversation', { conversation_id: data.conversationId }),
    ContinuationDropped: ({ data }) => removeFrom('continuation', { sha256: data.sha256 }),
    TurnAppended: ({ data, at }) => insertInto('journal', { turn_id: data.turnId, since: at }),
    JournalsExpired: ({ data }) => data.turnIds.map((turnId) => removeFrom('journal', { turn_id: turnId })),

    OAuthHandshakeStarted: ({ data }) => insertInto('sign_in', { handshake_id: data.handshakeId, since: data.expiresAt }),
    OAuthGranted: ({ data }) => removeFrom('sign_in', { handshake_id: data.handshakeId }),
    OAuthHandshakeFailed: ({ data }) => removeFrom('sign_in', { handshake_id: data.handshakeId }),
  },
});

const runOf = (scheduleId: string, runId: string, queuedAt: string): readonly Change[] => [
  insertInto('scheduled_output', { run_id: runId, schedule_id: scheduleId, queued_at: queuedAt }),
  derive(NO_LONGER_NEWEST, scheduleId),
];

/** Releases the outputs that newer runs have displaced. It reads none that was released before. */
const NO_LONGER_NEWEST: Derivation = {
  key: 'schedule_id',
  statement: ({ sql, rows, table }) => sql`
    update ${table('scheduled_output')} set schedule_id = null where run_id in (
      select older.run_id from ${rows}, lateral (
        select run_id from ${table('scheduled_output')} as output where output.schedule_id = told.schedule_id
        order by queued_at desc, run_id offset ${NEWEST_RUNS_KEPT}
      ) as older)`,
};

/** The continuations that the pauses of sealed turns left. */
const SEALED_TURNS: SetStatement = {
  columns: { turn_id: 'text', at: 'timestamptz' },
  tables: ['continuation'],
  step: 1,
  statement: ({ sql, rows, table }) => sql`
    update ${table('continuation')} as kept set since = told.at from ${rows} where kept.turn_id = told.turn_id`,
};

function runOver({ data, at }: Recorded<RunEvent>) {
  return [
    changeIn('webhook_run', { run_id: data.runId }, { since: at }),
    changeIn('research', { turn_id: data.runId }, { since: at }),
  ];
}
