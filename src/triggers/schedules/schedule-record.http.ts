import type { ScheduleRecord, ScheduleRunRecord } from '../../../projections/schedules/schedules.queries.js';

/** A schedule in the form that clients receive. */
export const scheduleRecord = (schedule: ScheduleRecord) => ({
  id: schedule.id,
  user_id: schedule.ownerId,
  agent_id: schedule.agentId,
  trigger_type: schedule.triggerType,
  name: schedule.name,
  instruction: schedule.instruction,
  status: schedule.status,
  cron: schedule.cron,
  run_at: text(schedule.runAt),
  timezone: schedule.timezone,
  // The next slot of a paused schedule will not run.
  next_run_at: schedule.status === 'active' ? text(schedule.nextSlotAt) : null,
  last_run_at: text(schedule.lastRunAt),
  end_at: text(schedule.endAt),
  tool_allowlist: schedule.toolAllowlist,
  model_id: schedule.modelId,
  token_budget: schedule.tokenBudget,
  origin_conversation_id: schedule.originConversationId,
  created_via: schedule.createdVia,
  consecutive_failure_count: schedule.failuresInARow,
  created_at: schedule.createdAt.toISOString(),
  updated_at: schedule.updatedAt.toISOString(),
});

/** A run in the form that clients receive. A missed slot has the status `skipped`. */
export const runRecord = (run: ScheduleRunRecord, { ownerId, agentId }: Pick<ScheduleRecord, 'ownerId' | 'agentId'>) => ({
  id: run.id,
  schedule_id: run.scheduleId,
  user_id: ownerId,
  agent_id: agentId,
  status: run.status === 'missed' ? 'skipped' : run.status,
  scheduled_for: run.scheduledFor.toISOString(),
  trigger_source: run.triggerSource,
  started_at: text(run.startedAt),
  finished_at: text(run.finishedAt),
  output: run.output,
  output_truncated: run.isOutputTruncated,
  error: run.error,
  error_type: run.errorType,
  prompt_tokens: run.promptTokens,
  generated_tokens: run.generatedTokens,
  conversation_id: run.conversationId,
  message_id: run.messageId,
  celery_task_id: run.status === 'skipped' || run.status === 'missed' ? null : run.id,
  created_at: run.createdAt.toISOString(),
  updated_at: run.updatedAt.toISOString(),
});

const text = (date: Date | null): string | null => date?.toISOString() ?? null;
