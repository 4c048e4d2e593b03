import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { scheduleCodec } from './schedule.codec.js';
import type {
  ScheduleCreated,
  ScheduleEvent,
  ScheduleId,
  ScheduleOrigin,
  ScheduleSnapshot,
  ScheduleDefinition,
  ScheduleTiming,
  SlotDecided,
} from './schedule.events.js';
import { SNAPSHOT_AFTER_SLOTS, SNAPSHOT_WITHIN_EVENTS_MAX } from './schedule.policy.js';
import { nextSlot } from './slots.policy.js';

/** `completed` and `cancelled` are final, but the schedule can still be read; a `deleted` one cannot. */
type ScheduleStatus = ScheduleSnapshot['status'] | 'none' | 'deleted';

export type Schedule = Omit<ScheduleSnapshot, 'status'> &
  Readonly<{
    id: ScheduleId;
    status: ScheduleStatus;
    /** Number of slots decided since the last snapshot. */
    slotsSinceSnapshot: number;
  }>;

const initial: Schedule = {
  id: '',
  ownerId: '',
  agentId: null,
  conversationId: null,
  status: 'none',
  definition: {
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
  slotsSinceSnapshot: 0,
};

export const schedule: Aggregate<Schedule, ScheduleEvent> = {
  initial,
  evolve,
  codec: scheduleCodec,
  snapshot: { type: 'ScheduleSnapshotTaken', withinMax: SNAPSHOT_WITHIN_EVENTS_MAX },
};

function evolve(state: Schedule, event: ScheduleEvent): Schedule {
  switch (event.type) {
    case 'ScheduleCreated': {
      const { scheduleId: id, ownerId, origin, definition, createdAt, nextSlotAt } = event.data;
      const { agentId, conversationId } = origin;
      return {
        ...state,
        id,
        ownerId,
        agentId,
        conversationId,
        status: 'active',
        definition,
        nextSlotAt,
        decidedUntil: createdAt,
      };
    }
    case 'ScheduleChanged': {
      const { changes, changedAt, nextSlotAt } = event.data;
      const decidedUntil = changes.timing ? latest(state.decidedUntil, changedAt) : state.decidedUntil;
      return { ...state, definition: { ...state.definition, ...changes }, nextSlotAt, decidedUntil };
    }
    case 'SchedulePaused':
    case 'ScheduleAutoPaused':
      return { ...state, status: 'paused' };
    case 'ScheduleResumed': {
      const { timing = state.definition.timing, resumedAt, nextSlotAt } = event.data;
      const decidedUntil = latest(state.decidedUntil, resumedAt);
      return {
        ...state,
        status: 'active',
        definition: { ...state.definition, timing },
        nextSlotAt,
        decidedUntil,
        failuresInARow: 0,
      };
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
    case 'ScheduleSlotsPaused': {
      const { until, nextSlotAt } = event.data;
      return { ...state, nextSlotAt, decidedUntil: until, slotsSinceSnapshot: state.slotsSinceSnapshot + 1 };
    }
    case 'ScheduleRunRequested':
      return { ...state, openRun: { runId: event.data.runId, isSlot: false, since: event.data.requestedAt } };
    case 'ScheduleRunEnded':
      return { ...state, openRun: null, failuresInARow: event.data.failuresInARow };
    case 'ScheduleSnapshotTaken': {
      const { scheduleId: id, ...snapshot } = event.data;
      return { ...snapshot, id, slotsSinceSnapshot: 0 };
    }
  }
}

const decided = (state: Schedule, { data }: SlotDecided): Schedule => ({
  ...state,
  nextSlotAt: data.nextSlotAt,
  decidedUntil: data.slot,
  slotsSinceSnapshot: state.slotsSinceSnapshot + 1,
});

/** Takes a snapshot after SNAPSHOT_AFTER_SLOTS slots, so that the state can be read quickly. */
export function takeSnapshot({ id, status, slotsSinceSnapshot, ...snapshot }: Schedule): readonly ScheduleEvent[] {
  if (slotsSinceSnapshot < SNAPSHOT_AFTER_SLOTS || status === 'none' || status === 'deleted') return [];
  return [{ type: 'ScheduleSnapshotTaken', data: { scheduleId: id, status, ...snapshot } }];
}

const latest = (one: string, other: string): string => (one > other ? one : other);

/** The next slot of a timing after now and after the slots that are already decided. */
export const nextSlotText = (timing: ScheduleTiming, decidedUntil: string, now: Date): string | null =>
  nextSlot(timing, new Date(latest(decidedUntil, now.toISOString())))?.toISOString() ?? null;

export type NewSchedule = Readonly<{ ownerId: string; origin: ScheduleOrigin; definition: ScheduleDefinition; now: Date }>;

export const create =
  (scheduleId: ScheduleId, { ownerId, origin, definition, now }: NewSchedule): Decision<Schedule, ScheduleEvent> =>
  (state) => {
    if (state.status !== 'none') return [];
    const nextSlotAt = nextSlotText(definition.timing, '', now);
    const data: ScheduleCreated['data'] = { scheduleId, ownerId, origin, definition, createdAt: now.toISOString(), nextSlotAt };
    return [{ type: 'ScheduleCreated', data }];
  };
