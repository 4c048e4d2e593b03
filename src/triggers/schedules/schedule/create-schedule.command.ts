import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { create, schedule } from './schedule.decider.js';
import { type ScheduleId, type ScheduleOrigin, scheduleStream } from './schedule.events.js';
import { ScheduleRules } from './schedule-rules.js';
import { type TermsAsked, termsIn } from './terms.policy.js';

/** A user wants something done later, or again and again. Whether there is a place for it was asked before. */
export class CreateSchedule extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly origin: ScheduleOrigin,
    readonly asked: TermsAsked,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(CreateSchedule)
export class CreateScheduleHandler implements ICommandHandler<CreateSchedule> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, origin, asked, cause }: CreateSchedule): Promise<bigint | undefined> {
    const now = this.clock.now();
    const decision = create(scheduleId, { ownerId, origin, terms: termsIn(asked, this.rules, now), now });
    return (await this.streams.transact(scheduleStream(scheduleId), schedule, decision, cause)).position;
  }
}
