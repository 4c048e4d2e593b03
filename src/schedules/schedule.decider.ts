import type { Aggregate } from '../kernel/streams.js';
import type { Decision } from '../kernel/decider.js';
import { scheduleCodec } from './schedule.codec.js';
import type {
  RunId,
  ScheduleCreated,
  ScheduleEvent,
  ScheduleId,
  ScheduleOrigin,
  ScheduleTerms,
  ScheduleTiming,
  SlotDecided,
} from './schedule.events.js';
import { nextSlot } from './slots.policy.js';

/** `completed` and `cancelled` are for good but can be looked at; after `deleted` nothing is. */
export type ScheduleStatus = 'none' | 'active' | 'paused' | 'completed' | 'cancelled' | 'deleted';

/** A run that is not over. */
export type OpenRun = Readonly<{ runId: RunId; isSlot: boolean; since: string }>;

export type Schedule = Readonly<{
  id: ScheduleId;
  ownerId: string;
  agentId: string | null;
  /** The chat that it was made in. */
  conversationId: string | null;
  status: ScheduleStatus;
  terms: ScheduleTerms;
  /** The first slot that is not decided yet. */
  nextSlotAt: string | null;
  /** No slot up to here is decided on any more, whatever the clock says. */
  decidedUntil: string;
  openRun: OpenRun | null;
  failuresInARow: number;
}>;

const initial: Schedule = {
  id: '',
  ownerId: '',
  agentId: null,
  conversationId: null,
  status: 'none',
  terms: {
    name: null,
    instruction: '',
    timing: { kind: 'once', runAt: '', timezone: 'UTC' },
    toolAllowlist: [],
    modelId: null,
    tokenBudget: null,
  },
  nextSlotAt: null,
  decidedUntil: '',
  openRun: null,
  failuresInARow: 0,
};

export const schedule: Aggregate<Schedule, ScheduleEvent> = { initial, evolve, codec: scheduleCodec };

function evolve(state: Schedule, event: ScheduleEvent): Schedule {
  switch (event.type) {
    case 'ScheduleCreated': {
      const { scheduleId: id, ownerId, origin, terms, createdAt, nextSlotAt } = event.data;
      const { agentId, conversationId } = origin;
      return { ...state, id, ownerId, agentId, conversationId, status: 'active', terms, nextSlotAt, decidedUntil: createdAt };
    }
    case 'ScheduleChanged': {
      const { changes, changedAt, nextSlotAt } = event.data;
      const decidedUntil = changes.timing ? latest(state.decidedUntil, changedAt) : state.decidedUntil;
      return { ...state, terms: { ...state.terms, ...changes }, nextSlotAt, decidedUntil };
    }
    case 'SchedulePaused':
    case 'ScheduleAutoPaused':
      return { ...state, status: 'paused' };
    case 'ScheduleResumed': {
      const { timing = state.terms.timing, resumedAt, nextSlotAt } = event.data;
      const decidedUntil = latest(state.decidedUntil, resumedAt);
      return { ...state, status: 'active', terms: { ...state.terms, timing }, nextSlotAt, decidedUntil, failuresInARow: 0 };
    }
    case 'ScheduleCompleted':
      return { ...state, status: 'completed', nextSlotAt: null };
    case 'ScheduleCancelled':
      return { ...state, status: 'cancelled', nextSlotAt: null };
    case 'ScheduleDeleted':
      return { ...state, status: 'deleted', nextSlotAt: null };
    case 'ScheduleRunQueued':
      return { ...decided(state, event), openRun: { runId: event.data.runId, isSlot: true, since: event.data.queuedAt } };
    case 'ScheduleMissed':
    case 'ScheduleSlotPaused':
    case 'ScheduleSlotSkipped':
      return decided(state, event);
    case 'ScheduleRunRequested':
      return { ...state, openRun: { runId: event.data.runId, isSlot: false, since: event.data.requestedAt } };
    case 'ScheduleRunEnded':
      return { ...state, openRun: null, failuresInARow: event.data.failuresInARow };
  }
}

const decided = (state: Schedule, { data }: SlotDecided): Schedule => ({
  ...state,
  nextSlotAt: data.nextSlotAt,
  decidedUntil: data.slot,
});

const latest = (one: string, other: string): string => (one > other ? one : other);

/** What is to come of a timing, for a ledger that is decided so far at a time. */
export const nextSlotText = (timing: ScheduleTiming, decidedUntil: string, now: Date): string | null =>
  nextSlot(timing, new Date(latest(decidedUntil, now.toISOString())))?.toISOString() ?? null;

export type NewSchedule = Readonly<{ ownerId: string; origin: ScheduleOrigin; terms: ScheduleTerms; now: Date }>;

export const create =
  (scheduleId: ScheduleId, { ownerId, origin, terms, now }: NewSchedule): Decision<Schedule, ScheduleEvent> =>
  (state) => {
    if (state.status !== 'none') return [];
    const nextSlotAt = nextSlotText(terms.timing, '', now);
    const data: ScheduleCreated['data'] = { scheduleId, ownerId, origin, terms, createdAt: now.toISOString(), nextSlotAt };
    return [{ type: 'ScheduleCreated', data }];
  };
