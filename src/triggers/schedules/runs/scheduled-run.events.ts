import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { RunId, ScheduleId } from '../schedule/schedule.events.js';

/** What the schedule shows of a run's answer. */
export type RunReport = Readonly<{
  output: string | null;
  isOutputTruncated: boolean;
  error: string | null;
  promptTokens: number;
  generatedTokens: number;
}>;

/** Where in a chat a run's answer stands. */
export type RunMessage = Readonly<{ conversationId: string; messageId: string }>;

/** Links a run to its schedule: runs know nothing of schedules. */
export type ScheduledRunQueued = Event<'ScheduledRunQueued', { runId: RunId; scheduleId: ScheduleId; ownerId: string }>;
export type ScheduledRunStarted = Event<'ScheduledRunStarted', { runId: RunId; startedAt: string }>;
export type ScheduledRunReported = Event<'ScheduledRunReported', { runId: RunId; report: RunReport }>;

/** What it said is a message of the chat that it was asked for in. */
export type ScheduledRunAppended = Event<'ScheduledRunAppended', { runId: RunId } & RunMessage>;

/** The run's answer is purged everywhere. When it ran and what it used is kept here. */
export type ScheduledRunOutputPurged = Event<
  'ScheduledRunOutputPurged',
  {
    runId: RunId;
    scheduleId: ScheduleId;
    ownerId: string;
    startedAt: string | null;
    promptTokens: number;
    generatedTokens: number;
    purgedAt: string;
    /** Of one that was added to a chat. */
    message?: RunMessage;
  }
>;

export type ScheduledRunEvent =
  ScheduledRunQueued | ScheduledRunStarted | ScheduledRunReported | ScheduledRunAppended | ScheduledRunOutputPurged;

/** The message of a run is named by the run: however often it is added, it is one. */
export const messageIdOf = (runId: RunId): string => deterministicId('scheduled-message', runId);

export const scheduledRunStream = (runId: RunId): string => `scheduleRun-${runId}`;
