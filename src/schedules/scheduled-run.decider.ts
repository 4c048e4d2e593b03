import type { Decision } from '../kernel/decider.js';
import type { Aggregate } from '../kernel/streams.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import type { ScheduledRunEvent, ScheduledRunQueued, ScheduledRunReported, ScheduledRunStarted } from './scheduled-run.events.js';

/** How far a run has come; `queued` says whose it is. */
export type ScheduledRun = Readonly<{ queued: ScheduledRunQueued['data'] | null; isStarted: boolean; isReported: boolean }>;

export const scheduledRun: Aggregate<ScheduledRun, ScheduledRunEvent> = {
  initial: { queued: null, isStarted: false, isReported: false },
  evolve,
  codec: scheduleRunCodec,
};

function evolve(state: ScheduledRun, event: ScheduledRunEvent): ScheduledRun {
  switch (event.type) {
    case 'ScheduledRunQueued':
      return { ...state, queued: event.data };
    case 'ScheduledRunStarted':
      return { ...state, isStarted: true };
    case 'ScheduledRunReported':
      return { ...state, isReported: true };
  }
}

type Decide = Decision<ScheduledRun, ScheduledRunEvent>;

export const queueScheduledRun =
  (data: ScheduledRunQueued['data']): Decide =>
  ({ queued }) =>
    queued ? [] : [{ type: 'ScheduledRunQueued', data }];

/** Its first attempt begins. Runs that no schedule knows of are not its business. */
export const startScheduledRun =
  (data: ScheduledRunStarted['data']): Decide =>
  ({ queued, isStarted, isReported }) =>
    !queued || isStarted || isReported ? [] : [{ type: 'ScheduledRunStarted', data }];

export const reportScheduledRun =
  (data: ScheduledRunReported['data']): Decide =>
  ({ queued, isReported }) =>
    !queued || isReported ? [] : [{ type: 'ScheduledRunReported', data }];
