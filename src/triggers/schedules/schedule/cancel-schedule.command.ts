import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { transactCaughtUp } from './catch-up.js';
import type { ScheduleId } from './schedule.events.js';
import { cancel, cancelTask, type ChatScope } from './schedule-changes.decider.js';
import { ScheduleRules } from './schedule-rules.js';

/** A schedule is called off for its owner; with a chat, by that chat, which can call off no more than it sees. */
export class CancelSchedule extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly chat?: ChatScope,
  ) {
    super();
  }
}

@CommandHandler(CancelSchedule)
export class CancelScheduleHandler implements ICommandHandler<CancelSchedule> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, cause, chat }: CancelSchedule): Promise<bigint | undefined> {
    const asking = { ownerId, rules: this.rules, now: this.clock.now() };
    const decision = chat ? cancelTask(asking, chat) : cancel(asking);
    return (await transactCaughtUp(this.streams, scheduleId, decision, asking, cause)).position;
  }
}
