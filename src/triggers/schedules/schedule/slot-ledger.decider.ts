import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import { takeSnapshot, type Schedule, schedule } from './schedule.decider.js';
import { type RunError, type RunId, runIdOf, type RunStatus, type ScheduleEvent, type SlotDecided } from './schedule.events.js';
import { type LedgerRules, SLOTS_PER_APPEND_MAX } from './schedule.policy.js';
import { nextSlot, slotsBetween } from './slots.policy.js';

type Decide = Decision<Schedule, ScheduleEvent>;

/**
 * Whether due slots may wait for a later poll (`open`), must be decided now because later slots change (`closing`), or must start
 * no more runs (`cancelling`).
 */
export type LedgerMode = 'open' | 'closing' | 'cancelling';

/**
 * Decides on the due slots in order, each exactly once: a run, or the reason why there is none. The append expects the revision
 * that was read, so if two processes decide at once, one is repeated and finds the slots decided. A clock that is ahead makes a
 * slot early; one that is behind or steps back finds nothing to decide. Decides on at most SLOTS_PER_APPEND_MAX slots.
 */
export const decideSlots =
  (rules: LedgerRules, now: Date): Decide =>
  (state) => {
    const events = slotsDecided(rules, now, 'open')(state);
    return events.length === 0 ? events : [...events, ...takeSnapshot(events.reduce(schedule.evolve, state))];
  };

const slotsDecided =
  (rules: LedgerRules, now: Date, mode: LedgerMode): Decide =>
  (state) => {
    const given = givenUp(state, rules, now);
    const decided = dueSlotEvents(given.reduce(schedule.evolve, state), rules, now, mode);
    const events = [...given, ...decided];
    return [...events, ...completion(events.reduce(schedule.evolve, state), now)];
  };

/** Decides on the due slots and then on a request. @throws Rejection schedule-catching-up if more slots are due than one append can hold */
export const slotsDecidedFirst =
  (rules: LedgerRules, now: Date, mode: LedgerMode, decide: Decide): Decide =>
  (state) => {
    const come = slotsDecided(rules, now, mode)(state);
    const after = come.reduce(schedule.evolve, state);
    if (isDue(after, now) && mode !== 'open')
      throw new Rejection('schedule-catching-up', 'the schedule is catching up, try again');
    return [...come, ...decide(after)];
  };

/**
 * A run has ended. A successful run that exceeded the token budget counts as failed. Nothing happens if the run has already ended
 * or the schedule is deleted.
 */
export const endRun =
  (runId: RunId, ending: RunEnding, rules: LedgerRules, now: Date): Decide =>
  (state) => {
    if (state.openRun?.runId !== runId || state.status === 'deleted') return [];
    const { tokenBudget } = state.definition;
    const isTooDear = ending.status === 'success' && tokenBudget !== null && ending.tokens > tokenBudget;
    const outcome: Outcome = isTooDear ? { status: 'failed', errorType: 'budget_exceeded' } : ending;
    const pauses = outcome.status !== 'success' && pausesAt(state, rules, state.failuresInARow + 1);
    return slotsDecidedFirst(rules, now, pauses ? 'closing' : 'open', (after) =>
      after.openRun?.runId === runId ? runEnded(after, outcome, rules, now) : [],
    )(state);
  };

type Outcome = Readonly<{ status: RunStatus; errorType: RunError | null }>;

/** How a run ended, and how many tokens it used. */
export type RunEnding = Outcome & Readonly<{ tokens: number }>;

/** The time before which polling a schedule with an undecided due slot is useless; undefined if there is no such slot. */
export function waitsUntil(state: Schedule, { missedAfterMs, runLimitMs }: LedgerRules, now: Date): Date | undefined {
  if (!isDue(state, now)) return undefined;
  const { openRun, definition, nextSlotAt } = state;
  const slot = new Date(nextSlotAt!);
  if (definition.timing.kind === 'once')
    return openRun ? new Date(Math.min(now.getTime() + ONCE_CHECK_MS, Date.parse(openRun.since) + runLimitMs)) : undefined;
  const missed = slot.getTime() + missedAfterMs;
  return new Date(Math.min(missed, nextSlot(definition.timing, slot)?.getTime() ?? Infinity));
}

/** Interval at which a one-time schedule checks whether the run that blocks its slot has ended. */
const ONCE_CHECK_MS = 5_000;

/** Whether a slot is due. */
const isDue = ({ nextSlotAt }: Schedule, now: Date): boolean => nextSlotAt !== null && nextSlotAt <= now.toISOString();

function dueSlotEvents(state: Schedule, rules: LedgerRules, now: Date, mode: LedgerMode): readonly ScheduleEvent[] {
  if (!isDue(state, now)) return [];
  const { timing } = state.definition;
  if (state.status === 'paused' && timing.kind === 'recurring') return mode === 'open' ? [] : [slotsPaused(state, now)];
  const events: SlotDecided[] = [];
  const slots = slotsBetween(timing, new Date(state.decidedUntil), now, SLOTS_PER_APPEND_MAX + 1);
  let known = state;
  for (const [index, slot] of slots.slice(0, SLOTS_PER_APPEND_MAX).entries()) {
    const event = decideSlot(known, slot, slots[index + 1] ?? nextSlot(timing, slot), { rules, now, mode });
    if (!event) break;
    known = schedule.evolve(known, event);
    events.push(event);
  }
  return events;
}

/**
 * The slots of a pause are recorded as one span when the pause ends. Until then, the pause itself implies that they do not run.
 */
function slotsPaused({ id: scheduleId, definition, decidedUntil: after }: Schedule, now: Date): ScheduleEvent {
  const nextSlotAt = nextSlot(definition.timing, now)?.toISOString() ?? null;
  return { type: 'ScheduleSlotsPaused', data: { scheduleId, after, until: now.toISOString(), nextSlotAt } };
}

type Check = Readonly<{ rules: LedgerRules; now: Date; mode: LedgerMode }>;

/** Decides on one slot; undefined if it waits. */
function decideSlot(state: Schedule, at: Date, next: Date | undefined, look: Check): SlotDecided | undefined {
  const { rules, now, mode } = look;
  const data = { scheduleId: state.id, slot: at.toISOString(), nextSlotAt: next?.toISOString() ?? null };
  if (state.status === 'paused') return { type: 'ScheduleSlotPaused', data };
  const isOnce = state.definition.timing.kind === 'once';
  const lateMs = now.getTime() - at.getTime();
  if (isOnce || lateMs <= rules.misfireGraceMs) {
    if (mode === 'cancelling') return { type: 'ScheduleSlotSkipped', data: { ...data, reason: 'cancelled' } };
    if (!state.openRun) {
      const run = { runId: runIdOf(state.id, data.slot), queuedAt: now.toISOString() };
      return { type: 'ScheduleRunQueued', data: { ...data, ...run } };
    }
    // A one-time schedule has no other slot, so it waits until a requested run has ended.
    if (isOnce && mode === 'open') return undefined;
    return { type: 'ScheduleSlotSkipped', data: { ...data, reason: 'overlap' } };
  }
  const waits = lateMs < rules.missedAfterMs && mode === 'open' && !(next && next <= now);
  return waits ? undefined : { type: 'ScheduleMissed', data };
}

function givenUp(state: Schedule, rules: LedgerRules, now: Date): readonly ScheduleEvent[] {
  const { openRun, status } = state;
  if (!openRun || status === 'deleted' || now.getTime() - Date.parse(openRun.since) <= rules.runLimitMs) return [];
  return runEnded(state, { status: 'timeout', errorType: 'timeout' }, rules, now);
}

function runEnded(state: Schedule, { status, errorType }: Outcome, rules: LedgerRules, now: Date): readonly ScheduleEvent[] {
  const { id: scheduleId, openRun, definition } = state;
  const failuresInARow = status === 'success' ? 0 : state.failuresInARow + 1;
  const endedAt = now.toISOString();
  const ended: ScheduleEvent = {
    type: 'ScheduleRunEnded',
    data: { scheduleId, runId: openRun!.runId, status, errorType, failuresInARow, endedAt },
  };
  if (status !== 'success' && pausesAt(state, rules, failuresInARow)) {
    return [
      ended,
      { type: 'ScheduleAutoPaused', data: { scheduleId, runId: openRun!.runId, failuresInARow, pausedAt: endedAt } },
    ];
  }
  if (state.status === 'active' && definition.timing.kind === 'once' && openRun!.isSlot && state.nextSlotAt === null) {
    return [ended, { type: 'ScheduleCompleted', data: { scheduleId, completedAt: endedAt } }];
  }
  return [ended];
}

const pausesAt = ({ status, definition }: Schedule, { failuresMax }: LedgerRules, failures: number): boolean =>
  status === 'active' && definition.timing.kind === 'recurring' && failuresMax > 0 && failures >= failuresMax;

/** A recurring schedule is completed with its last slot, even if the last run has not ended. */
export function completion({ id, status, definition, nextSlotAt }: Schedule, now: Date): readonly ScheduleEvent[] {
  const isOver = status === 'active' && definition.timing.kind === 'recurring' && nextSlotAt === null;
  return isOver ? [{ type: 'ScheduleCompleted', data: { scheduleId: id, completedAt: now.toISOString() } }] : [];
}
