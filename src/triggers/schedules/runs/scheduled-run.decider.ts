import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import type { RunId } from '../schedule/schedule.events.js';
import { scheduleRunCodec } from './scheduled-run.codec.js';
import type {
  RunMessage,
  ScheduledRunEvent,
  ScheduledRunQueued,
  ScheduledRunReported,
  ScheduledRunStarted,
} from './scheduled-run.events.js';

/** The progress of a run; `queued` holds its schedule and owner. */
export type ScheduledRun = Readonly<{
  queued: ScheduledRunQueued['data'] | null;
  startedAt: string | null;
  /** The tokens that the run has used; null until it has reported. */
  used: Readonly<{ promptTokens: number; generatedTokens: number }> | null;
  /** The chat message with the run's answer, if it was added to a chat. */
  message: RunMessage | null;
  isOutputPurged: boolean;
}>;

export const scheduledRun: Aggregate<ScheduledRun, ScheduledRunEvent> = {
  initial: { queued: null, startedAt: null, used: null, message: null, isOutputPurged: false },
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
    case 'ScheduledRunAppended': {
      const { conversationId, messageId } = event.data;
      return { ...state, message: { conversationId, messageId } };
    }
    // The purge deletes the earlier events, so this event restores the whole state.
    case 'ScheduledRunOutputPurged': {
      const { runId, scheduleId, ownerId, startedAt, promptTokens, generatedTokens, message = null } = event.data;
      const queued = { runId, scheduleId, ownerId };
      return { queued, startedAt, used: { promptTokens, generatedTokens }, message, isOutputPurged: true };
    }
  }
}

type Decide = Decision<ScheduledRun, ScheduledRunEvent>;

export const queueScheduledRun =
  (data: ScheduledRunQueued['data']): Decide =>
  ({ queued }) =>
    queued ? [] : [{ type: 'ScheduledRunQueued', data }];

/** The first attempt has started. Ignored for runs without a schedule. */
export const startScheduledRun =
  (data: ScheduledRunStarted['data']): Decide =>
  ({ queued, startedAt, used }) =>
    !queued || startedAt !== null || used ? [] : [{ type: 'ScheduledRunStarted', data }];

export const reportScheduledRun =
  (data: ScheduledRunReported['data']): Decide =>
  ({ queued, used }) =>
    !queued || used ? [] : [{ type: 'ScheduledRunReported', data }];

/** The answer was added to a chat. */
export const appendScheduledRun =
  (runId: RunId, where: RunMessage): Decide =>
  ({ queued, message }) =>
    !queued || message ? [] : [{ type: 'ScheduledRunAppended', data: { runId, ...where } }];

/** Purges the output of a run that has reported. A run that has not reported has no output. */
export const purgeOutput =
  (runId: RunId, now: Date): Decide =>
  ({ queued, startedAt, used, message, isOutputPurged }) => {
    if (!queued || !used || isOutputPurged) return [];
    const { scheduleId, ownerId } = queued;
    const data = { runId, scheduleId, ownerId, startedAt, ...used, purgedAt: now.toISOString(), ...(message && { message }) };
    return [{ type: 'ScheduledRunOutputPurged', data }];
  };
