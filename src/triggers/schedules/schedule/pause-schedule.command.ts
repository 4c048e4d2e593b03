import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { transactCaughtUp } from './catch-up.js';
import { pause } from './schedule-changes.decider.js';
import type { ScheduleId } from './schedule.events.js';
import { ScheduleRules } from './schedule-rules.js';

/** Nothing comes of a schedule's slots until it is resumed. */
export class PauseSchedule extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(PauseSchedule)
export class PauseScheduleHandler implements ICommandHandler<PauseSchedule> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, cause }: PauseSchedule): Promise<bigint | undefined> {
    const asking = { ownerId, rules: this.rules, now: this.clock.now() };
    const decision = pause(asking);
    return (await transactCaughtUp(this.streams, scheduleId, decision, asking, cause)).position;
  }
}
