import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import { nextSlotText, type Schedule, schedule } from './schedule.decider.js';
import type { RunId, ScheduleEvent, ScheduleDefinition, ScheduleTiming } from './schedule.events.js';
import { type LedgerRules, scheduleNotFound } from './schedule.policy.js';
import { completion, type LedgerMode, slotsDecidedFirst } from './slot-ledger.decider.js';

type Decide = Decision<Schedule, ScheduleEvent>;

/** The requesting owner, the rules and the time of a request. */
export type Asked = Readonly<{ ownerId: string; rules: LedgerRules; now: Date }>;

/** Decides on the slots that are due and then on the owner's request. @throws Rejection schedule-not-found, also for other users */
const asked =
  (asking: Asked, mode: LedgerMode, decide: Decide): Decide =>
  (state) => {
    requireOwn(state, asking);
    return slotsDecidedFirst(asking.rules, asking.now, mode, decide)(state);
  };

function requireOwn({ status, ownerId }: Schedule, asking: Asked): void {
  if (status === 'none' || status === 'deleted' || ownerId !== asking.ownerId) throw scheduleNotFound();
}

const isOver = ({ status }: Schedule): boolean => status === 'completed' || status === 'cancelled';

/**
 * Changes the definition. Equal values are no change. Changes that do not concern the timing leave waiting slots undecided.
 * @throws Rejection schedule-not-found, schedule-terminal, schedule-run-started, invalid-schedule
 */
export const change =
  (asking: Asked, definitionAfter: (before: ScheduleDefinition) => Partial<ScheduleDefinition>): Decide =>
  (state) => {
    requireOwn(state, asking);
    const changes = differing(state.definition, definitionAfter(state.definition));
    if (Object.keys(changes).length === 0) return [];
    const mode = changes.timing ? 'closing' : 'open';
    return slotsDecidedFirst(asking.rules, asking.now, mode, changedTo(changes, asking.now))(state);
  };

const changedTo =
  (changes: Partial<ScheduleDefinition>, now: Date): Decide =>
  (state) => {
    const { timing } = changes;
    if (timing) refuseNewTiming(state);
    const nextSlotAt = timing ? nextSlotText(timing, state.decidedUntil, now) : state.nextSlotAt;
    if (timing) refuseRunAtPassed(state.definition.timing, timing, nextSlotAt);
    const data = { scheduleId: state.id, changes, changedAt: now.toISOString(), nextSlotAt };
    const changed: ScheduleEvent = { type: 'ScheduleChanged', data };
    return [changed, ...completion(schedule.evolve(state, changed), now)];
  };

/** A schedule that is over would not run at the new times either. */
function refuseNewTiming(state: Schedule): void {
  if (isOver(state)) throw new Rejection('schedule-terminal', 'schedule is terminal');
  if (state.definition.timing.kind === 'once' && state.status === 'active' && state.nextSlotAt === null) {
    throw new Rejection('schedule-run-started', 'the once schedule has already started');
  }
}

/** A process whose clock is ahead may already have decided on a time that is still in the future by this process's clock. */
function refuseRunAtPassed(before: ScheduleTiming, after: ScheduleTiming, nextSlotAt: string | null): void {
  const isMoved = before.kind === 'once' && after.kind === 'once' && before.runAt !== after.runAt;
  if (isMoved && nextSlotAt === null) throw new Rejection('invalid-schedule', 'run_at must be in the future');
}

export const pause = (asking: Asked): Decide =>
  asked(asking, 'closing', (state) => {
    if (isOver(state)) throw new Rejection('schedule-terminal', 'schedule is terminal');
    if (state.status === 'paused') return [];
    return [{ type: 'SchedulePaused', data: { scheduleId: state.id, pausedAt: asking.now.toISOString() } }];
  });

/**
 * Resumes with the slots from now on; slots of the pause are not made up for. If no slot is left, a new time must be given.
 * @throws Rejection schedule-elapsed, schedule-terminal
 */
export const resume = (
  asking: Asked,
  timingAfter: (before: ScheduleTiming) => ScheduleTiming | undefined = () => undefined,
): Decide => {
  const resumed = asked(asking, 'closing', (state) => {
    if (isOver(state)) throw new Rejection('schedule-terminal', 'schedule is terminal');
    const timing = timingAfter(state.definition.timing);
    const next = timing ?? state.definition.timing;
    const nextSlotAt = nextSlotText(next, state.decidedUntil, asking.now);
    if (nextSlotAt === null) throw new Rejection('schedule-elapsed', elapsedText(next, timing !== undefined));
    const resumedAt = asking.now.toISOString();
    const data = { scheduleId: state.id, resumedAt, ...(timing && { timing }), nextSlotAt };
    return [{ type: 'ScheduleResumed', data }];
  });
  return (state) => {
    // A schedule that is not paused keeps its waiting slots.
    const come = asked(asking, 'open', () => [])(state);
    return come.reduce(schedule.evolve, state).status === 'active' ? come : resumed(state);
  };
};

function elapsedText({ kind }: ScheduleTiming, isNew: boolean): string {
  if (kind === 'recurring') return 'the schedule has ended; give it a later end_at';
  return isNew ? 'run_at must be in the future to resume' : 'the once schedule has elapsed; recreate it or supply a new run_at';
}

/** Cancels the schedule. A slot that is just due starts no run; a run in progress continues. */
export const cancel = (asking: Asked): Decide => asked(asking, 'cancelling', (state) => calledOff(state, asking.now));

const calledOff = (state: Schedule, now: Date): readonly ScheduleEvent[] =>
  isOver(state) ? [] : [{ type: 'ScheduleCancelled', data: { scheduleId: state.id, cancelledAt: now.toISOString() } }];

/** The schedules that a chat may access: with an agent, those of the agent; without one, those created in the chat. */
export type ChatScope = Readonly<{ agentId: string | null; conversationId: string }>;

/** A chat cancels a one-time task that it may access. @throws Rejection schedule-not-found, schedule-terminal */
export const cancelTask = (asking: Asked, scope: ChatScope): Decide =>
  asked(asking, 'cancelling', (state) => {
    if (!isTaskIn(scope, state)) throw scheduleNotFound();
    if (state.status === 'completed') throw new Rejection('schedule-terminal', 'schedule is terminal');
    return calledOff(state, asking.now);
  });

const isTaskIn = (scope: ChatScope, { agentId, conversationId, definition }: Schedule): boolean =>
  definition.timing.kind === 'once' && agentId === scope.agentId && (agentId !== null || conversationId === scope.conversationId);

export const remove = (asking: Asked): Decide =>
  asked(asking, 'cancelling', (state) => [
    { type: 'ScheduleDeleted', data: { scheduleId: state.id, deletedAt: asking.now.toISOString() } },
  ]);

/**
 * Requests a run now, independent of the slots. @throws Rejection schedule-not-found, schedule-cancelled, schedule-terminal,
 * schedule-run-in-flight
 */
export const requestRun = (asking: Asked, runId: RunId): Decide =>
  asked(asking, 'open', (state) => {
    if (state.openRun?.runId === runId) return [];
    if (state.status === 'cancelled') throw new Rejection('schedule-cancelled', 'schedule is cancelled');
    if (state.status === 'completed' && state.definition.timing.kind === 'once') {
      throw new Rejection('schedule-terminal', 'schedule is terminal');
    }
    if (state.openRun) throw new Rejection('schedule-run-in-flight', 'a run is already in flight');
    return [{ type: 'ScheduleRunRequested', data: { scheduleId: state.id, runId, requestedAt: asking.now.toISOString() } }];
  });

function differing(before: ScheduleDefinition, after: Partial<ScheduleDefinition>): Partial<ScheduleDefinition> {
  const keys = Object.keys(after) as (keyof ScheduleDefinition)[];
  return Object.fromEntries(
    keys.filter((key) => JSON.stringify(after[key]) !== JSON.stringify(before[key])).map((key) => [key, after[key]]),
  );
}
