import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Outcome, Streams } from '../../../kernel/event-sourcing/streams.js';
import { type Schedule, schedule } from './schedule.decider.js';
import { type ScheduleEvent, type ScheduleId, scheduleStream } from './schedule.events.js';
import type { Asked } from './schedule-changes.decider.js';
import { settle } from './slot-ledger.decider.js';

/** What one command decides on of a schedule that is far behind, in appends of SLOTS_PER_APPEND_MAX: at a slot every quarter of an hour, 20 days, in about a second. */
export const APPENDS_PER_COMMAND_MAX = 10;

/** Has an owner's wish decided; should more slots have come than one append takes, they are decided on first. @throws as the decision does */
export async function transactCaughtUp(
  streams: Streams,
  scheduleId: ScheduleId,
  decide: Decision<Schedule, ScheduleEvent>,
  { rules, now }: Asked,
  cause: Cause,
): Promise<Outcome<Schedule, ScheduleEvent>> {
  const stream = scheduleStream(scheduleId);
  let known = await streams.fold(stream, schedule);
  for (let appends = 1; ; appends++) {
    try {
      return await streams.transact(stream, schedule, decide, cause, known);
    } catch (error) {
      const isBehind = error instanceof Rejection && error.code === 'schedule-catching-up';
      if (!isBehind || appends === APPENDS_PER_COMMAND_MAX) throw error;
    }
    known = await streams.transact(stream, schedule, settle(rules, now), cause, known);
  }
}
