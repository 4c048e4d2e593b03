import type { Asked } from '../../src/triggers/schedules/schedule/schedule-changes.decider.js';
import {
  runIdOf,
  type ScheduleDefinition,
  type ScheduleEvent,
  type ScheduleTiming,
} from '../../src/triggers/schedules/schedule/schedule.events.js';
import type { LedgerRules } from '../../src/triggers/schedules/schedule/schedule.policy.js';
import type { RunEnding } from '../../src/triggers/schedules/schedule/slot-ledger.decider.js';

/** Events of the schedule s1 of ann, and the decisions that she makes, on one day. */
export const scheduleId = 's1';
export const rules: LedgerRules = { misfireGraceMs: 60_000, missedAfterMs: 600_000, runLimitMs: 900_000, failuresMax: 3 };
export const at = (time: string) => new Date(`2026-01-01T${time}Z`);
export const iso = (time: string) => at(time).toISOString();
export const by = (time: string, ownerId = 'ann'): Asked => ({ ownerId, rules, now: at(time) });

export const hourly: Extract<ScheduleTiming, { kind: 'recurring' }> = {
  kind: 'recurring',
  cron: '0 * * * *',
  timezone: 'UTC',
  endAt: null,
};
export const once: Extract<ScheduleTiming, { kind: 'once' }> = { kind: 'once', runAt: iso('09:00:00'), timezone: 'UTC' };
export const definition = (timing: ScheduleTiming): ScheduleDefinition => ({
  name: 'Look',
  instruction: 'Look.',
  timing,
  toolAllowlist: [],
  modelId: null,
  tokenBudget: null,
});
export const origin = { agentId: 'a1', conversationId: null, createdVia: 'ui' } as const;
export const created = (timing: ScheduleTiming, nextSlotAt = iso('09:00:00')): ScheduleEvent => ({
  type: 'ScheduleCreated',
  data: { scheduleId, ownerId: 'ann', origin, definition: definition(timing), createdAt: iso('08:30:00'), nextSlotAt },
});
export const slot = (hour: string, next: string | null) => ({
  scheduleId,
  slot: iso(`${hour}:00:00`),
  nextSlotAt: next === null ? null : iso(`${next}:00:00`),
});
export const queued = (hour: string, next: string | null, queuedAt = `${hour}:00:00`): ScheduleEvent => ({
  type: 'ScheduleRunQueued',
  data: { ...slot(hour, next), runId: runIdOf(scheduleId, iso(`${hour}:00:00`)), queuedAt: iso(queuedAt) },
});
export const runId = runIdOf(scheduleId, iso('09:00:00'));
export const paused: ScheduleEvent = { type: 'SchedulePaused', data: { scheduleId, pausedAt: iso('08:40:00') } };
export const failed = { status: 'failed', errorType: 'agent_error', tokens: 10 } as const;
export const succeeded = { status: 'success', errorType: null, tokens: 10 } as const;
export const ended = (
  failuresInARow: number,
  endedAt: string,
  { status, errorType }: Omit<RunEnding, 'tokens'> = failed,
): ScheduleEvent => ({
  type: 'ScheduleRunEnded',
  data: { scheduleId, runId, status, errorType, failuresInARow, endedAt: iso(endedAt) },
});

export const completedAt = (time: string): ScheduleEvent => ({
  type: 'ScheduleCompleted',
  data: { scheduleId, completedAt: iso(time) },
});
