import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { create, schedule } from './schedule.decider.js';
import { type ScheduleId, scheduleStream } from './schedule.events.js';
import type { ChatScope } from './schedule-changes.decider.js';
import { ScheduleRules } from './schedule-rules.js';
import { type TaskAsked, taskTermsIn } from './task-terms.policy.js';

/** A chat wants something done once, later. Whether there is a place for it was asked before. */
export class ScheduleTask extends Command<bigint | undefined> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly ownerId: string,
    readonly chat: ChatScope,
    readonly asked: TaskAsked,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ScheduleTask)
export class ScheduleTaskHandler implements ICommandHandler<ScheduleTask> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, ownerId, chat, asked, cause }: ScheduleTask): Promise<bigint | undefined> {
    const now = this.clock.now();
    const terms = taskTermsIn(asked, this.rules, now);
    const decision = create(scheduleId, { ownerId, origin: { ...chat, createdVia: 'chat' }, terms, now });
    return (await this.streams.transact(scheduleStream(scheduleId), schedule, decision, cause)).position;
  }
}
