import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import { takeSnapshot, type Schedule, schedule } from './schedule.decider.js';
import { type RunError, type RunId, runIdOf, type RunStatus, type ScheduleEvent, type SlotDecided } from './schedule.events.js';
import { type LedgerRules, SLOTS_PER_APPEND_MAX } from './schedule.policy.js';
import { nextSlot, slotsBetween } from './slots.policy.js';

type Decide = Decision<Schedule, ScheduleEvent>;

/**
 * Whether slots that have come may wait for a later look (`open`), have to be decided on now because what is to come after them
 * changes (`closing`), or start no run any more (`cancelling`).
 */
export type LedgerMode = 'open' | 'closing' | 'cancelling';

/**
 * Decides on the slots that have come: each in its turn, exactly once, into a run or the reason why there is none. Who
 * decides names the revision of the stream, so of two deciders one is asked again and finds the slots decided; a clock that
 * is ahead makes a slot early, and one that is behind, or steps back, finds nothing to decide. At most SLOTS_PER_APPEND_MAX
 * at a time.
 */
export const settle =
  (rules: LedgerRules, now: Date): Decide =>
  (state) => {
    const events = settled(rules, now, 'open')(state);
    return events.length === 0 ? events : [...events, ...takeSnapshot(events.reduce(schedule.evolve, state))];
  };

const settled =
  (rules: LedgerRules, now: Date, mode: LedgerMode): Decide =>
  (state) => {
    const given = givenUp(state, rules, now);
    const decided = decideSlots(given.reduce(schedule.evolve, state), rules, now, mode);
    const events = [...given, ...decided];
    return [...events, ...completion(events.reduce(schedule.evolve, state), now)];
  };

/** Decides on what has come, then on what is asked. @throws Rejection schedule-catching-up, when more has come than one append takes */
export const settledFirst =
  (rules: LedgerRules, now: Date, mode: LedgerMode, decide: Decide): Decide =>
  (state) => {
    const come = settled(rules, now, mode)(state);
    const after = come.reduce(schedule.evolve, state);
    if (isDue(after, now) && mode !== 'open')
      throw new Rejection('schedule-catching-up', 'the schedule is catching up, try again');
    return [...come, ...decide(after)];
  };

/**
 * A run is over, for whatever reason; one that used more than its schedule's budget has failed. Nothing is said of a run that is
 * over already, or of a schedule that is gone.
 */
export const endRun =
  (runId: RunId, ending: RunEnding, rules: LedgerRules, now: Date): Decide =>
  (state) => {
    if (state.openRun?.runId !== runId || state.status === 'deleted') return [];
    const { tokenBudget } = state.definition;
    const isTooDear = ending.status === 'success' && tokenBudget !== null && ending.tokens > tokenBudget;
    const outcome: Outcome = isTooDear ? { status: 'failed', errorType: 'budget_exceeded' } : ending;
    const pauses = outcome.status !== 'success' && pausesAt(state, rules, state.failuresInARow + 1);
    return settledFirst(rules, now, pauses ? 'closing' : 'open', (after) =>
      after.openRun?.runId === runId ? runEnded(after, outcome, rules, now) : [],
    )(state);
  };

type Outcome = Readonly<{ status: RunStatus; errorType: RunError | null }>;

/** How a run ended, and what it used. */
export type RunEnding = Outcome & Readonly<{ tokens: number }>;

/** Until when it is no use to look at a schedule again whose slot has come and was left undecided; undefined where none was. */
export function waitsUntil(state: Schedule, { missedAfterMs, runLimitMs }: LedgerRules, now: Date): Date | undefined {
  if (!isDue(state, now)) return undefined;
  const { openRun, definition, nextSlotAt } = state;
  const slot = new Date(nextSlotAt!);
  if (definition.timing.kind === 'once')
    return openRun ? new Date(Math.min(now.getTime() + ONCE_LOOKS_MS, Date.parse(openRun.since) + runLimitMs)) : undefined;
  const missed = slot.getTime() + missedAfterMs;
  return new Date(Math.min(missed, nextSlot(definition.timing, slot)?.getTime() ?? Infinity));
}

/** How often a one-time schedule looks whether the run that is in its way is over. */
const ONCE_LOOKS_MS = 5_000;

/** Whether there is a slot to decide on. */
const isDue = ({ nextSlotAt }: Schedule, now: Date): boolean => nextSlotAt !== null && nextSlotAt <= now.toISOString();

function decideSlots(state: Schedule, rules: LedgerRules, now: Date, mode: LedgerMode): readonly ScheduleEvent[] {
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

/** However long a pause was, its slots are one span, stated when it ends: until then the pause itself says what becomes of them. */
function slotsPaused({ id: scheduleId, definition, decidedUntil: after }: Schedule, now: Date): ScheduleEvent {
  const nextSlotAt = nextSlot(definition.timing, now)?.toISOString() ?? null;
  return { type: 'ScheduleSlotsPaused', data: { scheduleId, after, until: now.toISOString(), nextSlotAt } };
}

type Look = Readonly<{ rules: LedgerRules; now: Date; mode: LedgerMode }>;

/** What becomes of a slot; undefined while it waits. */
function decideSlot(state: Schedule, at: Date, next: Date | undefined, look: Look): SlotDecided | undefined {
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
    // There is no other slot to make up for the only one: it waits for the run that somebody asked for meanwhile.
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

/** A recurring schedule is complete with its last slot; its last run may still be under way. */
export function completion({ id, status, definition, nextSlotAt }: Schedule, now: Date): readonly ScheduleEvent[] {
  const isOver = status === 'active' && definition.timing.kind === 'recurring' && nextSlotAt === null;
  return isOver ? [{ type: 'ScheduleCompleted', data: { scheduleId: id, completedAt: now.toISOString() } }] : [];
}
