import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';

export type ScheduleId = string;
export type RunId = string;

/** When it comes due. `timezone` is also what times without an offset are read in. */
export type ScheduleTiming =
  | Readonly<{ kind: 'once'; runAt: string; timezone: string }>
  | Readonly<{ kind: 'recurring'; cron: string; timezone: string; endAt: string | null }>;

/** What a schedule's owner decides. */
export type ScheduleDefinition = Readonly<{
  name: string | null;
  instruction: string;
  timing: ScheduleTiming;
  toolAllowlist: readonly string[];
  modelId: string | null;
  /** A run that used more tokens has failed. */
  tokenBudget: number | null;
}>;

export type ScheduleOrigin = Readonly<{
  /** Null: a task of a chat without an agent. */
  agentId: string | null;
  /** The chat that what a one-time run says is added to. */
  conversationId: string | null;
  createdVia: 'chat' | 'ui';
}>;

/** `nextSlotAt`, wherever it stands, is the first slot that is not decided yet; null when none is left. */
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
/** Holds exactly the fields of the definition that changed, each whole. */
export type ScheduleChanged = Event<
  'ScheduleChanged',
  { scheduleId: ScheduleId; changes: Partial<ScheduleDefinition>; changedAt: string; nextSlotAt: string | null }
>;
export type SchedulePaused = Event<'SchedulePaused', { scheduleId: ScheduleId; pausedAt: string }>;
/** It paused itself after that many failures in a row, this run the last of them. */
export type ScheduleAutoPaused = Event<
  'ScheduleAutoPaused',
  { scheduleId: ScheduleId; runId: RunId; failuresInARow: number; pausedAt: string }
>;
export type ScheduleResumed = Event<
  'ScheduleResumed',
  { scheduleId: ScheduleId; resumedAt: string; timing?: ScheduleTiming; nextSlotAt: string | null }
>;
/** Nothing more will come due. */
export type ScheduleCompleted = Event<'ScheduleCompleted', { scheduleId: ScheduleId; completedAt: string }>;
/** Called off, and still to be seen. */
export type ScheduleCancelled = Event<'ScheduleCancelled', { scheduleId: ScheduleId; cancelledAt: string }>;
export type ScheduleDeleted = Event<'ScheduleDeleted', { scheduleId: ScheduleId; deletedAt: string }>;

/** The ledger: each slot is in exactly one of these four, or within the span of a pause, in the order of the slots. */
type Decided = { scheduleId: ScheduleId; slot: string; nextSlotAt: string | null };
export type ScheduleRunQueued = Event<'ScheduleRunQueued', Decided & { runId: RunId; queuedAt: string }>;
/** No process started a run in time. */
export type ScheduleMissed = Event<'ScheduleMissed', Decided>;
/** The slot of a one-time schedule passed while it was paused. */
export type ScheduleSlotPaused = Event<'ScheduleSlotPaused', Decided>;
/** All slots of a recurring schedule after a time and up to another passed in a pause. The timing says which they are. */
export type ScheduleSlotsPaused = Event<
  'ScheduleSlotsPaused',
  { scheduleId: ScheduleId; after: string; until: string; nextSlotAt: string | null }
>;
/** `overlap`: an earlier run was not over. `cancelled`: the schedule was called off with the slot just due. */
export type SkipReason = 'overlap' | 'cancelled';
export type ScheduleSlotSkipped = Event<'ScheduleSlotSkipped', Decided & { reason: SkipReason }>;

/** Somebody asked for a run now; it is no slot. */
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

/** What a run said is in the run's own stream: this one stays small, for it is folded whenever the schedule is decided on. */
export type ScheduleRunEnded = Event<
  'ScheduleRunEnded',
  { scheduleId: ScheduleId; runId: RunId; status: RunStatus; errorType: RunError | null; failuresInARow: number; endedAt: string }
>;

/** A run that is not over. */
export type OpenRun = Readonly<{ runId: RunId; isSlot: boolean; since: string }>;

/** The state that decisions read. */
export type ScheduleSnapshot = Readonly<{
  ownerId: string;
  agentId: string | null;
  /** The chat that it was made in. */
  conversationId: string | null;
  status: 'active' | 'paused' | 'completed' | 'cancelled';
  definition: ScheduleDefinition;
  nextSlotAt: string | null;
  /** No slot up to here is decided on any more, whatever the clock says. */
  decidedUntil: string;
  openRun: OpenRun | null;
  failuresInARow: number;
}>;

/** The state of the schedule, so that a decision does not read years of slots. Nothing has changed. */
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

/** The run of a slot, and its task, get their id from the slot: every process that decides on it derives the same id. */
export const runIdOf = (scheduleId: ScheduleId, slot: string): RunId => deterministicId('schedule-run', scheduleId, slot);
