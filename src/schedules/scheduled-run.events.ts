import type { Event } from '../kernel/events.js';
import type { RunId, ScheduleId } from './schedule.events.js';

/** What a run said, as far as it is kept for whoever looks at the schedule. */
export type RunReport = Readonly<{
  output: string | null;
  isOutputTruncated: boolean;
  error: string | null;
  promptTokens: number;
  generatedTokens: number;
}>;

/** Tells of a run whose it is: runs know nothing of schedules. */
export type ScheduledRunQueued = Event<'ScheduledRunQueued', { runId: RunId; scheduleId: ScheduleId; ownerId: string }>;
export type ScheduledRunStarted = Event<'ScheduledRunStarted', { runId: RunId; startedAt: string }>;
export type ScheduledRunReported = Event<'ScheduledRunReported', { runId: RunId; report: RunReport }>;

/** What it said is no longer kept, here or anywhere; that it ran, and what it used, is. */
export type ScheduledRunOutputRemoved = Event<
  'ScheduledRunOutputRemoved',
  {
    runId: RunId;
    scheduleId: ScheduleId;
    ownerId: string;
    startedAt: string | null;
    promptTokens: number;
    generatedTokens: number;
    removedAt: string;
  }
>;

export type ScheduledRunEvent = ScheduledRunQueued | ScheduledRunStarted | ScheduledRunReported | ScheduledRunOutputRemoved;

export const scheduledRunStream = (runId: RunId): string => `scheduleRun-${runId}`;
