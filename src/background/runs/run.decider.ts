import type { HistoryPin } from '../../dialogue/answering/runner/headless-answering.port.js';
import type { CalledTool, CallEndStatus, TurnSettings, Usage } from '../../dialogue/conversation/conversation.events.js';
import type { Decision } from '../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../kernel/rejection.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { runCodec } from './run.codec.js';
import type {
  DeliveryPlace,
  EffectNumber,
  RunEvent,
  RunFailed,
  RunFinished,
  RunId,
  RunQueued,
  RunToolCallFinished,
  RunUse,
} from './run.events.js';

/** A call with effects that an attempt began. Its outcome is unknown if `end` is null. */
type Effect = Readonly<{ attempt: number; call: CalledTool; end: RunToolCallFinished['data'] | null }>;

export type Run = Readonly<{
  status: 'unknown' | 'queued' | 'started' | 'finished' | 'refused' | 'failed' | 'purged';
  queued: RunQueued['data'] | null;
  /** The newest attempt; 0 before the first. */
  attempt: number;
  settings: TurnSettings | null;
  /** The conversation's revision up to which the run reads its history, as pinned by the first attempt. */
  history: HistoryPin | null;
  /** In the order in which they were begun. The index of an effect is its number. */
  effects: readonly Effect[];
  finished: RunFinished['data'] | null;
  refusal: string | null;
  failure: string | null;
}>;

const initial: Run = {
  status: 'unknown',
  queued: null,
  attempt: 0,
  settings: null,
  history: null,
  effects: [],
  finished: null,
  refusal: null,
  failure: null,
};

export const run: Aggregate<Run, RunEvent> = { initial, evolve, codec: runCodec };

function evolve(state: Run, event: RunEvent): Run {
  switch (event.type) {
    case 'RunQueued':
      return { ...state, status: 'queued', queued: event.data };
    case 'RunStarted': {
      const { attempt, settings, history = null } = event.data;
      return { ...state, status: 'started', attempt, settings, history };
    }
    case 'RunToolCallStarted': {
      const { attempt, call } = event.data;
      return { ...state, effects: [...state.effects, { attempt, call, end: null }] };
    }
    case 'RunToolCallFinished': {
      const { effect } = event.data;
      return { ...state, effects: state.effects.with(effect, { ...state.effects[effect]!, end: event.data }) };
    }
    case 'RunAttemptAbandoned':
      return state;
    case 'RunFinished':
      return { ...state, status: 'finished', finished: event.data };
    case 'RunRefused':
      return { ...state, status: 'refused', refusal: event.data.error };
    case 'RunFailed':
      return { ...state, status: 'failed', failure: event.data.error };
    case 'RunPurged':
      return { ...initial, status: 'purged' };
  }
}

type Decide = Decision<Run, RunEvent>;

const OVER: readonly Run['status'][] = ['finished', 'refused', 'failed', 'purged'];
export const isOver = ({ status }: Run): boolean => OVER.includes(status);

export const queueRun =
  (data: RunQueued['data']): Decide =>
  (state) =>
    state.status === 'unknown' ? [{ type: 'RunQueued', data }] : [];

/** Begins an attempt. From here on only this attempt can begin calls and finish the run. */
export const startRun =
  (runId: RunId, attempt: number, settings: TurnSettings, history: HistoryPin | null = null): Decide =>
  (state) => {
    requireOpen(state, runId);
    if (state.attempt === attempt) return [];
    if (state.attempt > attempt) throw superseded(runId, attempt);
    const pinned = state.settings ? state.history : history;
    const data = { runId, attempt, settings: state.settings ?? settings, ...(pinned && { history: pinned }) };
    return [{ type: 'RunStarted', data }];
  };

export const startEffect =
  (runId: RunId, attempt: number, call: CalledTool): Decide =>
  (state) => {
    requireAttempt(state, runId, attempt);
    return [{ type: 'RunToolCallStarted', data: { runId, attempt, effect: state.effects.length, call } }];
  };

/** Records the outcome of a call, even if its attempt is no longer the newest. */
export const finishEffect =
  (runId: RunId, effect: EffectNumber, status: CallEndStatus, result: string): Decide =>
  (state) => {
    const started = state.effects[effect];
    if (!started || started.end || isOver(state)) return [];
    return [{ type: 'RunToolCallFinished', data: { runId, attempt: started.attempt, effect, status, result } }];
  };

export const abandonAttempt =
  (runId: RunId, attempt: number, modelId: string, usage: Usage | null): Decide =>
  (state) =>
    state.status === 'started' && state.attempt === attempt
      ? [{ type: 'RunAttemptAbandoned', data: { runId, attempt, modelId, usage } }]
      : [];

export const finishRun =
  (data: RunFinished['data']): Decide =>
  (state) => {
    if (state.status === 'finished' && state.attempt === data.attempt) return [];
    requireAttempt(state, data.runId, data.attempt);
    return [{ type: 'RunFinished', data }];
  };

/** Refuses a run that has not started. A run that has started is not affected by an exhausted quota. */
export const refuseRun =
  (runId: RunId, error: string): Decide =>
  (state) =>
    state.status === 'queued' ? [{ type: 'RunRefused', data: { runId, reason: 'quota_exceeded', error } }] : [];

export const failRun =
  (runId: RunId, error: string, reason?: RunFailed['data']['reason']): Decide =>
  (state) =>
    state.status === 'unknown' || isOver(state) ? [] : [{ type: 'RunFailed', data: { runId, error, ...(reason && { reason }) } }];

/** Ends a run as timed out if it has not started. */
export const giveUpRun =
  (runId: RunId, error: string): Decide =>
  (state) =>
    state.status === 'queued' ? failRun(runId, error, 'timeout')(state) : [];

/** Purges a run that has ended, keeping its usage. */
export const purgeRun =
  (runId: RunId, delivery: DeliveryPlace | null, used: readonly RunUse[], now: Date): Decide =>
  (state) => {
    if (!isOver(state) || state.status === 'purged') return [];
    const { ownerId, agentId, trigger } = state.queued!;
    const purgedAt = now.toISOString();
    return [{ type: 'RunPurged', data: { runId, ownerId, agentId, trigger, delivery, used, purgedAt } }];
  };

function requireOpen(state: Run, runId: RunId): void {
  if (state.status === 'unknown') throw new Rejection('run-unknown', `There is no run ${runId}.`);
  if (isOver(state)) throw new Rejection('run-over', `Run ${runId} has ended.`);
}

function requireAttempt(state: Run, runId: RunId, attempt: number): void {
  requireOpen(state, runId);
  if (state.attempt !== attempt) throw superseded(runId, attempt);
}

const superseded = (runId: RunId, attempt: number) =>
  new Rejection('run-attempt-superseded', `Attempt ${attempt} of run ${runId} is no longer the newest.`);
