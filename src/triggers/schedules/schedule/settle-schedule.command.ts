import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { ScheduleRules } from './schedule-rules.js';
import { type Schedule, schedule } from './schedule.decider.js';
import { type ScheduleId, scheduleStream } from './schedule.events.js';
import { SLOTS_PER_APPEND_MAX } from './schedule.policy.js';
import { settle } from './slot-ledger.decider.js';

/** Time has passed for a schedule: its slots that have come are decided on. Answers when it is next worth a look. */
export class SettleSchedule extends Command<Schedule> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** Schedules remembered between two looks: one that comes due again is then decided on without being read. */
const SCHEDULES_REMEMBERED_MAX = 10_000;
/** What one look does for a schedule that is far behind; the rest is for the next. */
export const APPENDS_PER_LOOK_MAX = 8;

@CommandHandler(SettleSchedule)
export class SettleScheduleHandler implements ICommandHandler<SettleSchedule> {
  private readonly remembered = new LRUCache<ScheduleId, Folded<Schedule>>({ max: SCHEDULES_REMEMBERED_MAX });

  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, cause }: SettleSchedule): Promise<Schedule> {
    const stream = scheduleStream(scheduleId);
    const decide = settle(this.rules, this.clock.now());
    let known = this.remembered.get(scheduleId) ?? (await this.streams.fold(stream, schedule));
    for (let appends = 1; appends <= APPENDS_PER_LOOK_MAX; appends++) {
      let outcome = await this.streams.transact(stream, schedule, decide, cause, known);
      if (outcome.events.length === 0) {
        // What is remembered may be old: others decide on the schedule as well.
        outcome = await this.streams.transact(stream, schedule, decide, cause, await this.streams.fold(stream, schedule, known));
      }
      known = outcome;
      if (outcome.events.length < SLOTS_PER_APPEND_MAX) break;
    }
    const { state, revision, position } = known;
    this.remembered.set(scheduleId, { state, revision, position });
    return state;
  }
}
