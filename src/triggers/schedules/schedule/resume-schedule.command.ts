import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { transactCaughtUp } from './catch-up.js';
import { resume } from './schedule-changes.decider.js';
import type { ScheduleId } from './schedule.events.js';
import { ScheduleRules } from './schedule-rules.js';
import { timingResumed } from './terms.policy.js';

/** A schedule goes on; a one-time one may be given another moment. */
export class ResumeSchedule extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly runAt: unknown,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ResumeSchedule)
export class ResumeScheduleHandler implements ICommandHandler<ResumeSchedule> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, runAt, cause }: ResumeSchedule): Promise<bigint | undefined> {
    const asking = { ownerId, rules: this.rules, now: this.clock.now() };
    const decision = resume(asking, (before) => timingResumed(before, runAt, this.rules, asking.now));
    return (await transactCaughtUp(this.streams, scheduleId, decision, asking, cause)).position;
  }
}
