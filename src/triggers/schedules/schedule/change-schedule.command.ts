import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { transactCaughtUp } from './catch-up.js';
import { change } from './schedule-changes.decider.js';
import type { ScheduleId } from './schedule.events.js';
import { ScheduleRules } from './schedule-rules.js';
import { changesIn, type TermsAsked } from './terms.policy.js';

/** A schedule's owner changes what it does, or when. */
export class ChangeSchedule extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly asked: TermsAsked,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeSchedule)
export class ChangeScheduleHandler implements ICommandHandler<ChangeSchedule> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, asked, cause }: ChangeSchedule): Promise<bigint | undefined> {
    const asking = { ownerId, rules: this.rules, now: this.clock.now() };
    const decision = change(asking, (before) => changesIn(before, asked, this.rules, asking.now));
    return (await transactCaughtUp(this.streams, scheduleId, decision, asking, cause)).position;
  }
}
