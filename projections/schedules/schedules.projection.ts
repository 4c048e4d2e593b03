import { scheduleCodec } from '../../src/triggers/schedules/schedule/schedule.codec.js';
import {
  runIdOf,
  type ScheduleEvent,
  type ScheduleDefinition,
  type ScheduleTiming,
  type SlotDecided,
} from '../../src/triggers/schedules/schedule/schedule.events.js';
import { scheduleRunCodec } from '../../src/triggers/schedules/runs/scheduled-run.codec.js';
import type { RunMessage, ScheduledRunEvent } from '../../src/triggers/schedules/runs/scheduled-run.events.js';
import type { Recorded } from '../../src/kernel/event-sourcing/events.js';
import { changeIn, type Columns, defineProjection, insertInto } from '../projection.js';
import { asJsonb, asText } from '../text.js';
import { asTimestamp } from '../timestamps.js';

/** The current state of every schedule, its next slot, and its ledger, which holds the outcome of each slot. */
export const schedules = defineProjection<ScheduleEvent | ScheduledRunEvent>({
  name: 'schedules',
  categories: ['schedule', 'scheduleRun'],
  codec: { ...scheduleCodec, ...scheduleRunCodec },
  ddl: new URL('./schedules.sql', import.meta.url),

  on: {
    ScheduleCreated: ({ data }) =>
      insertInto('schedule', {
        schedule_id: data.scheduleId,
        owner_id: data.ownerId,
        agent_id: data.origin.agentId,
        origin_conversation_id: data.origin.conversationId,
        created_via: data.origin.createdVia,
        status: 'active',
        ...columnsOf(data.definition),
        next_slot_at: data.nextSlotAt,
        marked_since: data.createdAt,
        created_at: data.createdAt,
        updated_at: data.createdAt,
      }),

    ScheduleChanged: ({ data: { scheduleId, changes, changedAt, nextSlotAt } }) =>
      changeIn(
        'schedule',
        { schedule_id: scheduleId },
        {
          ...columnsOf(changes),
          next_slot_at: nextSlotAt,
          ...(changes.timing && { marked_since: changedAt }),
          updated_at: changedAt,
        },
      ),

    SchedulePaused: ({ data }) => schedule(data, { status: 'paused', is_auto_paused: false, updated_at: data.pausedAt }),
    ScheduleAutoPaused: ({ data }) => schedule(data, { status: 'paused', is_auto_paused: true, updated_at: data.pausedAt }),

    ScheduleResumed: ({ data }) =>
      schedule(data, {
        status: 'active',
        is_auto_paused: false,
        failures_in_a_row: 0,
        ...(data.timing && timingColumns(data.timing)),
        next_slot_at: data.nextSlotAt,
        marked_since: data.resumedAt,
        updated_at: data.resumedAt,
      }),

    ScheduleCompleted: ({ data }) => over(data, 'completed', data.completedAt),
    ScheduleCancelled: ({ data }) => over(data, 'cancelled', data.cancelledAt),

    ScheduleDeleted: ({ data }, sql) => [
      sql`delete from run where schedule_id = ${data.scheduleId}`,
      sql`delete from schedule where schedule_id = ${data.scheduleId}`,
    ],

    ScheduleRunQueued: (event) => {
      const { runId, queuedAt, nextSlotAt } = event.data;
      const open = { open_run_id: runId, open_run_since: queuedAt, last_run_at: queuedAt };
      return [
        insertInto('run', { ...ledgerRow(event), run_id: runId, status: 'pending' }),
        schedule(event.data, { next_slot_at: nextSlotAt, ...open, updated_at: queuedAt }),
      ];
    },
    ScheduleMissed: (event) => withoutRun(event, { status: 'missed', error_type: 'missed' }),
    ScheduleSlotPaused: (event) => withoutRun(event, { status: 'paused' }),
    ScheduleSlotsPaused: ({ data }) => schedule(data, { next_slot_at: data.nextSlotAt }),
    ScheduleSlotSkipped: (event) => withoutRun(event, { status: 'skipped', error_type: event.data.reason }),

    ScheduleRunRequested: ({ data: { scheduleId, runId, requestedAt } }) => [
      insertInto('run', {
        run_id: runId,
        schedule_id: scheduleId,
        status: 'pending',
        trigger_source: 'manual',
        scheduled_for: requestedAt,
        created_at: requestedAt,
        updated_at: requestedAt,
      }),
      schedule({ scheduleId }, { open_run_id: runId, open_run_since: requestedAt, last_run_at: requestedAt }),
    ],

    ScheduleRunEnded: ({ data: { scheduleId, runId, status, errorType, failuresInARow, endedAt } }) => [
      run(runId, { status, error_type: errorType, finished_at: endedAt, updated_at: endedAt }),
      schedule(
        { scheduleId },
        { open_run_id: null, open_run_since: null, failures_in_a_row: failuresInARow, updated_at: endedAt },
      ),
    ],

    // A run that was given up may have started at the same moment. The outcome of its slot does not change.
    ScheduledRunStarted: ({ data: { runId, startedAt } }, sql) => sql`
      update run set started_at = ${startedAt}, status = case status when 'pending' then 'running' else status end, updated_at = ${startedAt}
      where run_id = ${runId}`,

    ScheduledRunReported: ({ data: { runId, report } }) =>
      run(runId, {
        output: report.output === null ? null : asText(report.output),
        is_output_truncated: report.isOutputTruncated,
        error: report.error === null ? null : asText(report.error),
        prompt_tokens: report.promptTokens,
        generated_tokens: report.generatedTokens,
      }),

    ScheduledRunAppended: ({ data: { runId, ...message } }) => run(runId, messageColumns(message)),

    // This event may be all that is left of the run. Values that it does not have stay as the schedule's events set them.
    ScheduledRunOutputPurged: ({ data: { runId, startedAt, promptTokens, generatedTokens, purgedAt, message } }) =>
      run(runId, {
        ...(message && messageColumns(message)),
        started_at: startedAt,
        output: null,
        is_output_truncated: false,
        error: null,
        prompt_tokens: promptTokens,
        generated_tokens: generatedTokens,
        updated_at: purgedAt,
      }),
  },
});

const schedule = ({ scheduleId }: Readonly<{ scheduleId: string }>, values: Columns) =>
  changeIn('schedule', { schedule_id: scheduleId }, values);
const run = (runId: string, values: Columns) => changeIn('run', { run_id: runId }, values);
const messageColumns = ({ conversationId, messageId }: RunMessage): Columns => ({
  conversation_id: conversationId,
  message_id: messageId,
});
const over = (data: Readonly<{ scheduleId: string }>, status: string, at: string) =>
  schedule(data, { status, next_slot_at: null, updated_at: at });

const ledgerRow = ({ data, at }: Recorded<SlotDecided>): Columns => ({
  run_id: runIdOf(data.scheduleId, data.slot),
  schedule_id: data.scheduleId,
  trigger_source: 'cron',
  scheduled_for: data.slot,
  created_at: at,
  updated_at: at,
});

const withoutRun = (event: Recorded<SlotDecided>, values: Columns) => [
  insertInto('run', { ...ledgerRow(event), ...values, finished_at: event.at }),
  schedule(event.data, { next_slot_at: event.data.nextSlotAt }),
];

function columnsOf({ name, instruction, timing, toolAllowlist, modelId, tokenBudget }: Partial<ScheduleDefinition>): Columns {
  return {
    ...(name !== undefined && { name: name === null ? null : asText(name) }),
    ...(instruction !== undefined && { instruction: asText(instruction) }),
    ...(timing && timingColumns(timing)),
    ...(toolAllowlist && { tool_allowlist: asJsonb(toolAllowlist) }),
    ...(modelId !== undefined && { model_id: modelId }),
    ...(tokenBudget !== undefined && { token_budget: tokenBudget }),
  };
}

const timingColumns = (timing: ScheduleTiming): Columns => ({
  trigger_type: timing.kind,
  timezone: timing.timezone,
  cron: timing.kind === 'recurring' ? timing.cron : null,
  run_at: timing.kind === 'once' ? timing.runAt : null,
  end_at: timing.kind === 'recurring' && timing.endAt !== null ? asTimestamp(timing.endAt) : null,
});
