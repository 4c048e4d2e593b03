import type { Coverage } from './coverage.js';
import type { LogView } from './log-view.js';

/** What the log shows to have come about. */
const SHOWN: Readonly<Record<string, string>> = {
  ScheduleRunQueued: 'a slot came to a run',
  ScheduleMissed: 'a slot was missed',
  ScheduleSlotSkipped: 'a slot was skipped',
  ScheduleSlotPaused: 'a slot passed in a pause',
  TurnAppended: 'what a run said was added to its chat',
  JobStarted: 'a call went on as a job',
  JobLost: 'a job was lost',
  MonitorFollowUpRequested: 'a monitor found something',
  FollowUpDelivered: 'a conversation went on by itself',
  ConversationSnapshotTaken: 'a conversation took a snapshot',
  FollowUpMerged: 'two follow-ups were told together',
  TaskRetryScheduled: 'a task was to be tried again',
};

export function noteWhatTheLogShows(log: LogView, coverage: Coverage): void {
  for (const { type } of log.facts) if (SHOWN[type]) coverage.note(SHOWN[type]);
}
