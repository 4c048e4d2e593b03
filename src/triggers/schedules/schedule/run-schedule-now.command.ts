import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { schedule } from './schedule.decider.js';
import { requestRun } from './schedule-changes.decider.js';
import { type ScheduleId, scheduleStream } from './schedule.events.js';
import { ScheduleRules } from './schedule-rules.js';

/** A schedule's owner wants a run of it now. */
export class RunScheduleNow extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly runId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RunScheduleNow)
export class RunScheduleNowHandler implements ICommandHandler<RunScheduleNow> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, runId, cause }: RunScheduleNow): Promise<bigint | undefined> {
    const asking = { ownerId, rules: this.rules, now: this.clock.now() };
    const decision = requestRun(asking, runId);
    return (await this.streams.transact(scheduleStream(scheduleId), schedule, decision, cause)).position;
  }
}
