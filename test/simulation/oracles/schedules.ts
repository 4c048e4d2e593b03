import type { Fact, LogView } from '../world/log-view.js';
import type { World } from '../world/world.js';

const MINUTE_MS = 60_000;
const SLOTS = ['ScheduleRunQueued', 'ScheduleMissed', 'ScheduleSlotPaused', 'ScheduleSlotSkipped'];
const RUNS = ['ScheduleRunQueued', 'ScheduleRunRequested'];

/** Schedules: each slot is decided once, in order and without a gap. Each run is run once, and its end is recorded once. */
export function* schedules(log: LogView, { history, clocks }: Pick<World, 'history' | 'clocks'>): Generator<string> {
  for (const [stream, facts] of log.of('schedule')) {
    yield* slotsOnce(stream, facts);
    yield* slotsInTime(stream, facts, clocks.aheadMs);
    yield* whileActive(stream, facts);
    yield* oneRunAtATime(stream, facts);
  }
  for (const { data } of log.named(...RUNS)) yield* ranOnce(data['runId'] as string, log);
  const added = log.named('TurnAppended').map(({ data }) => data['turnId']);
  if (new Set(added).size !== added.length) yield 'What a run said was added twice to its chat.';
  for (const { data } of log.named('ScheduledRunAppended')) {
    if (!added.includes(data['messageId'])) yield `What ${String(data['runId'])} said is noted to be in its chat, and is not.`;
  }
  for (const scheduleId of history.schedulesCancelled) {
    const isOver = log.named('ScheduleCancelled', 'ScheduleCompleted').some(({ data }) => data['scheduleId'] === scheduleId);
    if (!isOver) yield `${scheduleId} was called off, and the log does not say so.`;
  }
  for (const runId of history.runsAccepted.keys()) {
    const requested = log.named('ScheduleRunRequested').filter(({ data }) => data['runId'] === runId);
    if (requested.length !== 1) yield `${runId} was accepted, and requested ${requested.length} times.`;
  }
}

const ms = (fact: Fact, name: string): number => Date.parse(fact.data[name] as string);
const minuteAfter = (time: number): number => (Math.floor(time / MINUTE_MS) + 1) * MINUTE_MS;

/** A schedule for every minute decides each minute since its creation once, except those that the end of a pause leaves out. */
function* slotsOnce(stream: string, facts: readonly Fact[]): Generator<string> {
  const created = facts.find(({ type }) => type === 'ScheduleCreated');
  if (!created) return;
  const { timing } = created.data['definition'] as { timing: { kind: string; runAt?: string } };
  const isOnce = timing.kind === 'once';
  let next: number | undefined = isOnce ? Date.parse(timing.runAt!) : minuteAfter(ms(created, 'createdAt'));
  for (const fact of facts) {
    if (fact.type === 'ScheduleResumed' && !isOnce) next = Math.max(next!, minuteAfter(ms(fact, 'resumedAt')));
    if (fact.type === 'ScheduleCancelled' && next !== undefined && next <= ms(fact, 'cancelledAt'))
      yield `${stream} was called off, and its slot of ${new Date(next).toISOString()} was not decided on.`;
    if (fact.type === 'ScheduleSlotsPaused') {
      if (next! <= ms(fact, 'after')) yield `${stream} had another slot before its pause than ${new Date(next!).toISOString()}.`;
      next = minuteAfter(ms(fact, 'until'));
    }
    if (!SLOTS.includes(fact.type)) continue;
    const slot = ms(fact, 'slot');
    if (slot !== next) yield `${stream} decided on ${String(fact.data['slot'])}, and another slot was next.`;
    next = isOnce ? undefined : slot + MINUTE_MS;
  }
}

/** No slot is decided before its time by the fastest clock. */
function* slotsInTime(stream: string, facts: readonly Fact[], aheadMs: number): Generator<string> {
  for (const fact of facts.filter(({ type }) => SLOTS.includes(type))) {
    const earlyMs = ms(fact, 'slot') - fact.stored.at.getTime() - aheadMs;
    if (earlyMs > 0) yield `${stream} decided on ${String(fact.data['slot'])} ${earlyMs} ms before any clock said so.`;
  }
  for (const fact of facts.filter(({ type }) => type === 'ScheduleSlotsPaused')) {
    const earlyMs = ms(fact, 'until') - fact.stored.at.getTime() - aheadMs;
    if (earlyMs > 0) yield `${stream} ended a pause ${earlyMs} ms before any clock said so.`;
  }
}

function* whileActive(stream: string, facts: readonly Fact[]): Generator<string> {
  let status = 'active';
  for (const { type } of facts) {
    if (type === 'SchedulePaused' || type === 'ScheduleAutoPaused') status = 'paused';
    if (type === 'ScheduleResumed') status = 'active';
    if (type === 'ScheduleCancelled') status = 'cancelled';
    if (type === 'ScheduleCompleted') status = 'completed';
    if (type === 'ScheduleRunQueued' && status !== 'active') yield `${stream} queued a run while it was ${status}.`;
    if ((type === 'ScheduleSlotPaused' || type === 'ScheduleSlotsPaused') && status !== 'paused')
      yield `${stream} left a slot out while it was ${status}.`;
  }
}

function* oneRunAtATime(stream: string, facts: readonly Fact[]): Generator<string> {
  let open: string | undefined;
  for (const { type, data } of facts) {
    const runId = data['runId'] as string;
    if (RUNS.includes(type)) {
      if (open !== undefined) yield `${stream} has two runs under way: ${open} and ${runId}.`;
      open = runId;
    }
    if (type !== 'ScheduleRunEnded') continue;
    if (open !== runId) yield `${stream} ended ${runId}, which was not under way.`;
    open = undefined;
  }
}

/**
 * A run of a schedule is queued once, ends once, and is recorded as ended once in its schedule. It runs what the slot specified.
 */
function* ranOnce(runId: string, log: LogView): Generator<string> {
  const count = (stream: string, ...types: readonly string[]) =>
    (log.byStream.get(stream) ?? []).filter(({ type }) => types.includes(type)).length;
  const times = {
    'decided on': log.named(...RUNS).filter(({ data }) => data['runId'] === runId).length,
    queued: count(`run-${runId}`, 'RunQueued'),
    'a task': count(`task-${runId}`, 'TaskQueued'),
    over: count(`run-${runId}`, 'RunFinished', 'RunFailed', 'RunRefused'),
    reported: count(`scheduleRun-${runId}`, 'ScheduledRunReported'),
    'ended for its schedule': log.named('ScheduleRunEnded').filter(({ data }) => data['runId'] === runId).length,
  };
  for (const [what, count] of Object.entries(times)) if (count !== 1) yield `The run ${runId} was ${what} ${count} times.`;
}
