import type { Decision } from '../kernel/decider.js';
import type { Aggregate } from '../kernel/streams.js';
import type { RunId } from './schedule.events.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import type { ScheduledRunEvent, ScheduledRunQueued, ScheduledRunReported, ScheduledRunStarted } from './scheduled-run.events.js';

/** How far a run has come; `queued` says whose it is. */
export type ScheduledRun = Readonly<{
  queued: ScheduledRunQueued['data'] | null;
  startedAt: string | null;
  /** What it has used, once it has reported. */
  used: Readonly<{ promptTokens: number; generatedTokens: number }> | null;
  isOutputRemoved: boolean;
}>;

export const scheduledRun: Aggregate<ScheduledRun, ScheduledRunEvent> = {
  initial: { queued: null, startedAt: null, used: null, isOutputRemoved: false },
  evolve,
  codec: scheduleRunCodec,
};

function evolve(state: ScheduledRun, event: ScheduledRunEvent): ScheduledRun {
  switch (event.type) {
    case 'ScheduledRunQueued':
      return { ...state, queued: event.data };
    case 'ScheduledRunStarted':
      return { ...state, startedAt: event.data.startedAt };
    case 'ScheduledRunReported': {
      const { promptTokens, generatedTokens } = event.data.report;
      return { ...state, used: { promptTokens, generatedTokens } };
    }
    // From then on it is all that is left.
    case 'ScheduledRunOutputRemoved': {
      const { runId, scheduleId, ownerId, startedAt, promptTokens, generatedTokens } = event.data;
      const queued = { runId, scheduleId, ownerId };
      return { queued, startedAt, used: { promptTokens, generatedTokens }, isOutputRemoved: true };
    }
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
  ({ queued, startedAt, used }) =>
    !queued || startedAt !== null || used ? [] : [{ type: 'ScheduledRunStarted', data }];

export const reportScheduledRun =
  (data: ScheduledRunReported['data']): Decide =>
  ({ queued, used }) =>
    !queued || used ? [] : [{ type: 'ScheduledRunReported', data }];

/** Of a run that has reported, what it said goes; of one that has not there is nothing yet. */
export const removeOutput =
  (runId: RunId, now: Date): Decide =>
  ({ queued, startedAt, used, isOutputRemoved }) => {
    if (!queued || !used || isOutputRemoved) return [];
    const { scheduleId, ownerId } = queued;
    const data = { runId, scheduleId, ownerId, startedAt, ...used, removedAt: now.toISOString() };
    return [{ type: 'ScheduledRunOutputRemoved', data }];
  };
