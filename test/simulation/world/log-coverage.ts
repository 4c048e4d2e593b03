import { NO_WORKER_NOTICE } from '../../../src/dialogue/answering/runner/resumed-run.js';
import type { Coverage } from './coverage.js';
import type { LogView } from './log-view.js';

/** The situations that events in the log show. */
const SHOWN: Readonly<Record<string, string>> = {
  ScheduleRunQueued: 'a slot came to a run',
  ScheduleMissed: 'a slot was missed',
  ScheduleSlotSkipped: 'a slot was skipped',
  ScheduleSlotPaused: 'a slot passed in a pause',
  ScheduleSlotsPaused: 'a slot passed in a pause',
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
  for (const { type, data } of log.facts) {
    if (SHOWN[type]) coverage.note(SHOWN[type]);
    if (type === 'TurnFailed' && data['code'] === 'no_worker') coverage.note('no worker took a question in time');
    if (type === 'TurnAnswered' && isToldOfNoWorker(log, data['turnId'] as string))
      coverage.note('a worker came after its reader was told that there is none');
  }
}

const isToldOfNoWorker = (log: LogView, turnId: string): boolean =>
  log.journal(turnId).some(({ data }) => data.includes(NO_WORKER_NOTICE));
