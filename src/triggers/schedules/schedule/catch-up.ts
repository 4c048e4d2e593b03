import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Outcome, Streams } from '../../../kernel/event-sourcing/streams.js';
import { type Schedule, schedule } from './schedule.decider.js';
import { type ScheduleEvent, type ScheduleId, scheduleStream } from './schedule.events.js';
import type { Asked } from './schedule-changes.decider.js';
import { decideSlots } from './slot-ledger.decider.js';

/**
 * Maximum number of appends that one command makes for a schedule that is far behind. With SLOTS_PER_APPEND_MAX this covers 20
 * days of slots every quarter of an hour, in about a second.
 */
export const APPENDS_PER_COMMAND_MAX = 10;

/**
 * Executes a decision of the owner, or about the end of a run. If more slots are due than one append can hold, these are decided
 * first. @throws the errors of the decision
 */
export async function transactCaughtUp(
  streams: Streams,
  scheduleId: ScheduleId,
  decide: Decision<Schedule, ScheduleEvent>,
  { rules, now }: Pick<Asked, 'rules' | 'now'>,
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
    known = await streams.transact(stream, schedule, decideSlots(rules, now), cause, known);
  }
}
