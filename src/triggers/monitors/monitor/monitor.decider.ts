import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { nextCheckAt } from './check-times.policy.js';
import { monitorCodec } from './monitor.codec.js';
import type { MonitorCreated, MonitorDefinition, MonitorEvent, MonitorId, MonitorParent, Seen } from './monitor.events.js';

/** `completed` and `cancelled` are final. */
type MonitorStatus = 'none' | 'active' | 'paused' | 'completed' | 'cancelled';

export type Monitor = Readonly<{
  id: MonitorId;
  ownerId: string;
  conversationId: string;
  agentId: string | null;
  status: MonitorStatus;
  definition: MonitorDefinition;
  seen: Seen;
  nextCheckAt: string;
  /** The number of started checks, including the one in progress. */
  checks: number;
  openCheck: Readonly<{ check: number; startedAt: string; leaseUntil: string }> | null;
  lastCheckedAt: string;
  lastChangedAt: string | null;
  followUps: number;
  /** The times of the follow-ups within the hour before the latest one. */
  requestedAt: readonly string[];
  pauses: number;
  unreachableSince: string | null;
  failuresInARow: number;
  judgeFailures: number;
  judgeTokens: number;
}>;

const initial: Monitor = {
  id: '',
  ownerId: '',
  conversationId: '',
  agentId: null,
  status: 'none',
  definition: {
    description: '',
    source: { type: 'webpage', url: '' },
    check: { type: 'changed' },
    condition: null,
    onMatch: null,
    intervalSeconds: 0,
    followUpsMax: 0,
    expiresAt: '',
  },
  seen: { hash: '', items: [], holds: false, gist: '' },
  nextCheckAt: '',
  checks: 0,
  openCheck: null,
  lastCheckedAt: '',
  lastChangedAt: null,
  followUps: 0,
  requestedAt: [],
  pauses: 0,
  unreachableSince: null,
  failuresInARow: 0,
  judgeFailures: 0,
  judgeTokens: 0,
};

export const monitor: Aggregate<Monitor, MonitorEvent> = { initial, evolve, codec: monitorCodec };

export const HOUR_MS = 3_600_000;

function evolve(state: Monitor, event: MonitorEvent): Monitor {
  switch (event.type) {
    case 'MonitorCreated': {
      const { monitorId: id, ownerId, conversationId, agentId, definition, seen, createdAt, nextCheckAt } = event.data;
      const created = { id, ownerId, conversationId, agentId, definition, seen, lastCheckedAt: createdAt, nextCheckAt };
      return { ...state, ...created, status: 'active' };
    }
    case 'MonitorCheckStarted': {
      const { check, startedAt, leaseUntil } = event.data;
      return { ...state, checks: check, openCheck: { check, startedAt, leaseUntil } };
    }
    case 'MonitorChecked':
      return checked(state, event);
    case 'MonitorFollowUpRequested': {
      const { followUp, requestedAt } = event.data;
      return { ...state, followUps: followUp, requestedAt: [...withinAnHour(state.requestedAt, requestedAt), requestedAt] };
    }
    case 'MonitorPaused':
      return { ...state, status: 'paused', openCheck: null, pauses: event.data.pause };
    case 'MonitorResumed': {
      const anew = { unreachableSince: null, failuresInARow: 0, judgeFailures: 0, judgeTokens: 0 };
      return { ...state, ...anew, status: 'active', nextCheckAt: event.data.nextCheckAt };
    }
    case 'MonitorCompleted':
      return { ...state, status: 'completed', openCheck: null };
    case 'MonitorCancelled':
      return { ...state, status: 'cancelled', openCheck: null };
  }
}

function checked(state: Monitor, { data }: Extract<MonitorEvent, { type: 'MonitorChecked' }>): Monitor {
  const { outcome, seen = state.seen, usage, judgeFailures, checkedAt, nextCheckAt } = data;
  const isNew = outcome === 'changed' || outcome === 'matched';
  return {
    ...state,
    seen,
    nextCheckAt,
    judgeFailures,
    openCheck: null,
    lastCheckedAt: checkedAt,
    lastChangedAt: isNew ? checkedAt : state.lastChangedAt,
    unreachableSince: outcome === 'unreachable' ? (state.unreachableSince ?? checkedAt) : null,
    failuresInARow: outcome === 'failed' ? state.failuresInARow + 1 : 0,
    judgeTokens: state.judgeTokens + (usage ? usage.promptTokens + usage.completionTokens : 0),
  };
}

export const withinAnHour = (times: readonly string[], now: string): readonly string[] =>
  times.filter((time) => Date.parse(now) - Date.parse(time) < HOUR_MS);

type Decide = Decision<Monitor, MonitorEvent>;

export const aboutMonitor = ({ id: monitorId, ownerId, conversationId }: Monitor) => ({ monitorId, ownerId, conversationId });

/** Creates a monitor with the baseline (`seen`) for later checks. */
export const create =
  (data: MonitorCreated['data']): Decide =>
  ({ status }) =>
    status === 'none' ? [{ type: 'MonitorCreated', data }] : [];

const isLive = ({ status }: Monitor): boolean => status === 'active' || status === 'paused';

/**
 * Decides what is due: the end of the monitor, or a check for the first process that claims it. Nothing is due while a check is
 * in progress, so a match during the last check still counts.
 */
export const attend =
  (now: Date, leaseMs: number): Decide =>
  (state) => {
    if (!isLive(state)) return [];
    const at = now.toISOString();
    const { status, id: monitorId, definition, openCheck, checks, followUps } = state;
    if (openCheck !== null && at < openCheck.leaseUntil) return [];
    if (at >= definition.expiresAt) {
      const isNews = status === 'active' && followUps === 0;
      return [{ type: 'MonitorCompleted', data: { ...aboutMonitor(state), reason: 'expired', isNews, completedAt: at } }];
    }
    if (status === 'paused' || at < state.nextCheckAt) return [];
    const leaseUntil = new Date(now.getTime() + leaseMs).toISOString();
    return [{ type: 'MonitorCheckStarted', data: { monitorId, check: checks + 1, startedAt: at, leaseUntil } }];
  };

export const monitorNotFound = (): Rejection => new Rejection('monitor-not-found', 'Monitor not found');

const cannotBe = (done: string): Rejection => new Rejection('monitor-over', `This monitor can't be ${done} now`);

/** @throws Rejection monitor-not-found, also for other users */
function own(state: Monitor, ownerId: string): void {
  if (state.status === 'none' || state.ownerId !== ownerId) throw monitorNotFound();
}

/** @throws Rejection monitor-not-found, monitor-over */
export const pause =
  (ownerId: string, now: Date): Decide =>
  (state) => {
    own(state, ownerId);
    if (state.status === 'paused') return [];
    if (state.status !== 'active') throw cannotBe('paused');
    return [paused(state, null, now)];
  };

export const paused = (state: Monitor, reason: string | null, now: Date): MonitorEvent => ({
  type: 'MonitorPaused',
  data: { ...aboutMonitor(state), pause: state.pauses + 1, reason, pausedAt: now.toISOString() },
});

/** Makes a check due immediately and resets all failure counters. @throws Rejection monitor-not-found, monitor-over */
export const resume =
  (ownerId: string, now: Date): Decide =>
  (state) => {
    own(state, ownerId);
    if (state.status === 'active') return [];
    const at = now.toISOString();
    if (state.status !== 'paused' || at >= state.definition.expiresAt) throw cannotBe('resumed');
    return [{ type: 'MonitorResumed', data: { ...aboutMonitor(state), resumedAt: at, nextCheckAt: at } }];
  };

/** @throws Rejection monitor-not-found, monitor-over */
export const cancel =
  (ownerId: string, now: Date): Decide =>
  (state) => {
    own(state, ownerId);
    if (state.status === 'cancelled') return [];
    if (state.status === 'completed') throw cannotBe('cancelled');
    return [{ type: 'MonitorCancelled', data: { ...aboutMonitor(state), by: 'owner', cancelledAt: now.toISOString() } }];
  };

/** Cancels a monitor whose conversation or agent was deleted. */
export const cancelWith =
  (parent: MonitorParent, now: Date): Decide =>
  (state) =>
    isLive(state)
      ? [{ type: 'MonitorCancelled', data: { ...aboutMonitor(state), by: parent, cancelledAt: now.toISOString() } }]
      : [];

/** The time of the check after the current one. */
export const checkAfter = ({ id, checks, definition }: Pick<Monitor, 'id' | 'checks' | 'definition'>, now: Date): string =>
  nextCheckAt({ monitorId: id, checkNumber: checks + 1, ...definition }, now);
