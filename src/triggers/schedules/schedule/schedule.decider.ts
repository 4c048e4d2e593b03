import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { scheduleCodec } from './schedule.codec.js';
import type {
  ScheduleCreated,
  ScheduleEvent,
  ScheduleId,
  ScheduleOrigin,
  ScheduleStanding,
  ScheduleTerms,
  ScheduleTiming,
  SlotDecided,
} from './schedule.events.js';
import { RESTATED_AFTER_SLOTS, RESTATED_WITHIN_EVENTS_MAX } from './schedule.policy.js';
import { nextSlot } from './slots.policy.js';

/** `completed` and `cancelled` are for good but can be looked at; after `deleted` nothing is. */
type ScheduleStatus = ScheduleStanding['status'] | 'none' | 'deleted';

export type Schedule = Omit<ScheduleStanding, 'status'> &
  Readonly<{
    id: ScheduleId;
    status: ScheduleStatus;
    /** Slots decided on since it was said how it stands. */
    slotsSinceRestated: number;
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
  slotsSinceRestated: 0,
};

export const schedule: Aggregate<Schedule, ScheduleEvent> = {
  initial,
  evolve,
  codec: scheduleCodec,
  restated: { type: 'ScheduleRestated', withinMax: RESTATED_WITHIN_EVENTS_MAX },
};

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
    case 'ScheduleRestated': {
      const { scheduleId: id, ...standing } = event.data;
      return { ...standing, id, slotsSinceRestated: 0 };
    }
  }
}

const decided = (state: Schedule, { data }: SlotDecided): Schedule => ({
  ...state,
  nextSlotAt: data.nextSlotAt,
  decidedUntil: data.slot,
  slotsSinceRestated: state.slotsSinceRestated + 1,
});

/** How it stands, once so many slots were decided on that it is long to read. */
export function restatement({ id, status, slotsSinceRestated, ...standing }: Schedule): readonly ScheduleEvent[] {
  if (slotsSinceRestated < RESTATED_AFTER_SLOTS || status === 'none' || status === 'deleted') return [];
  return [{ type: 'ScheduleRestated', data: { scheduleId: id, status, ...standing } }];
}

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
