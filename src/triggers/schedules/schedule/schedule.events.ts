import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type ScheduleId = string;
export type RunId = string;

/** When a schedule is due. `timezone` also applies to times that clients send without an offset. */
export type ScheduleTiming =
  | Readonly<{ kind: 'once'; runAt: string; timezone: string }>
  | Readonly<{ kind: 'recurring'; cron: string; timezone: string; endAt: string | null }>;

/** The part of a schedule that its owner sets. */
export type ScheduleDefinition = Readonly<{
  name: string | null;
  instruction: string;
  timing: ScheduleTiming;
  toolAllowlist: readonly string[];
  modelId: string | null;
  /** A run that used more tokens counts as failed. */
  tokenBudget: number | null;
}>;

export type ScheduleOrigin = Readonly<{
  /** Null for a task of a chat without an agent. */
  agentId: string | null;
  /** The chat to which the answer of a one-time run is added. */
  conversationId: string | null;
  createdVia: 'chat' | 'ui';
}>;

/** In all events, `nextSlotAt` is the first slot that is not decided yet; null if none is left. */
export type ScheduleCreated = Event<
  'ScheduleCreated',
  {
    scheduleId: ScheduleId;
    ownerId: string;
    origin: ScheduleOrigin;
    definition: ScheduleDefinition;
    createdAt: string;
    nextSlotAt: string | null;
  }
>;
/** `changes` holds the changed fields of the definition with their complete new values. */
export type ScheduleChanged = Event<
  'ScheduleChanged',
  { scheduleId: ScheduleId; changes: Partial<ScheduleDefinition>; changedAt: string; nextSlotAt: string | null }
>;
export type SchedulePaused = Event<'SchedulePaused', { scheduleId: ScheduleId; pausedAt: string }>;
/** The schedule paused itself after `failuresInARow` failed runs; `runId` is the last of them. */
export type ScheduleAutoPaused = Event<
  'ScheduleAutoPaused',
  { scheduleId: ScheduleId; runId: RunId; failuresInARow: number; pausedAt: string }
>;
export type ScheduleResumed = Event<
  'ScheduleResumed',
  { scheduleId: ScheduleId; resumedAt: string; timing?: ScheduleTiming; nextSlotAt: string | null }
>;
/** No slot is left. */
export type ScheduleCompleted = Event<'ScheduleCompleted', { scheduleId: ScheduleId; completedAt: string }>;
/** The schedule was cancelled. It can still be read. */
export type ScheduleCancelled = Event<'ScheduleCancelled', { scheduleId: ScheduleId; cancelledAt: string }>;
export type ScheduleDeleted = Event<'ScheduleDeleted', { scheduleId: ScheduleId; deletedAt: string }>;

/** The ledger of slots: each slot is in exactly one of the next four events or in the span of a ScheduleSlotsPaused, in order. */
type Decided = { scheduleId: ScheduleId; slot: string; nextSlotAt: string | null };
export type ScheduleRunQueued = Event<'ScheduleRunQueued', Decided & { runId: RunId; queuedAt: string }>;
/** No process started a run in time. */
export type ScheduleMissed = Event<'ScheduleMissed', Decided>;
/** The slot of a one-time schedule passed while the schedule was paused. */
export type ScheduleSlotPaused = Event<'ScheduleSlotPaused', Decided>;
/**
 * All slots of a recurring schedule in a span (later than `after`, up to and including `until`) passed during a pause. The timing
 * determines these slots.
 */
export type ScheduleSlotsPaused = Event<
  'ScheduleSlotsPaused',
  { scheduleId: ScheduleId; after: string; until: string; nextSlotAt: string | null }
>;
/** `overlap`: an earlier run had not ended. `cancelled`: the schedule was cancelled when the slot was just due. */
export type SkipReason = 'overlap' | 'cancelled';
export type ScheduleSlotSkipped = Event<'ScheduleSlotSkipped', Decided & { reason: SkipReason }>;

/** A user requested a run, which has no slot. */
export type ScheduleRunRequested = Event<'ScheduleRunRequested', { scheduleId: ScheduleId; runId: RunId; requestedAt: string }>;

export type RunStatus = 'success' | 'failed' | 'timeout';
export type RunError =
  | 'auth_expired'
  | 'tool_not_allowed'
  | 'budget_exceeded'
  | 'timeout'
  | 'agent_error'
  | 'internal'
  | 'stream_error'
  | 'empty_output';

/** The answer is in the run's own stream, because this stream is folded for each decision and must stay small. */
export type ScheduleRunEnded = Event<
  'ScheduleRunEnded',
  { scheduleId: ScheduleId; runId: RunId; status: RunStatus; errorType: RunError | null; failuresInARow: number; endedAt: string }
>;

/** A run that has not ended. */
export type OpenRun = Readonly<{ runId: RunId; isSlot: boolean; since: string }>;

/** The state that decisions read. */
export type ScheduleSnapshot = Readonly<{
  ownerId: string;
  agentId: string | null;
  /** The chat in which the schedule was created. */
  conversationId: string | null;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  definition: ScheduleDefinition;
  nextSlotAt: string | null;
  /** All slots up to this time are decided, whatever a process's clock shows. */
  decidedUntil: string;
  openRun: OpenRun | null;
  failuresInARow: number;
}>;

/** The state of the schedule, so that decisions do not read years of slots. It changes nothing. */
export type ScheduleSnapshotTaken = Event<'ScheduleSnapshotTaken', ScheduleSnapshot & { scheduleId: ScheduleId }>;

export type SlotDecided = ScheduleRunQueued | ScheduleMissed | ScheduleSlotPaused | ScheduleSlotSkipped;

export type ScheduleEvent =
  | ScheduleCreated
  | ScheduleChanged
  | SchedulePaused
  | ScheduleAutoPaused
  | ScheduleResumed
  | ScheduleCompleted
  | ScheduleCancelled
  | ScheduleDeleted
  | SlotDecided
  | ScheduleSlotsPaused
  | ScheduleRunRequested
  | ScheduleRunEnded
  | ScheduleSnapshotTaken;

export const scheduleStream = (scheduleId: ScheduleId): string => `schedule-${scheduleId}`;

/** The id of a slot's run and task is derived from the slot, so every process that decides on the slot gets the same id. */
export const runIdOf = (scheduleId: ScheduleId, slot: string): RunId => deterministicId('schedule-run', scheduleId, slot);
