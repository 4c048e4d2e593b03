import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { RunId, ScheduleId } from '../schedule/schedule.events.js';

/** The part of a run's result that the schedule shows. */
export type RunReport = Readonly<{
  output: string | null;
  isOutputTruncated: boolean;
  error: string | null;
  promptTokens: number;
  generatedTokens: number;
}>;

/** The chat message that holds a run's answer. */
export type RunMessage = Readonly<{ conversationId: string; messageId: string }>;

/** Links a run to its schedule, because the run's own events do not name it. */
export type ScheduledRunQueued = Event<'ScheduledRunQueued', { runId: RunId; scheduleId: ScheduleId; ownerId: string }>;
export type ScheduledRunStarted = Event<'ScheduledRunStarted', { runId: RunId; startedAt: string }>;
export type ScheduledRunReported = Event<'ScheduledRunReported', { runId: RunId; report: RunReport }>;

/** The answer was added as a message to the chat in which the task was created. */
export type ScheduledRunAppended = Event<'ScheduledRunAppended', { runId: RunId } & RunMessage>;

/** The run's answer was deleted from all streams. The times and the usage of the run are kept here. */
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
    /** Present if the answer was added to a chat. */
    message?: RunMessage;
  }
>;

export type ScheduledRunEvent =
  | ScheduledRunQueued
  | ScheduledRunStarted
  | ScheduledRunReported
  | ScheduledRunAppended
  | ScheduledRunOutputPurged;

/** The message's id is derived from the run, so adding it repeatedly creates one message. */
export const messageIdOf = (runId: RunId): string => deterministicId('scheduled-message', runId);

export const scheduledRunStream = (runId: RunId): string => `scheduleRun-${runId}`;
