import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { schedule } from './schedule.decider.js';
import { type RunId, type ScheduleId, scheduleStream } from './schedule.events.js';
import { ScheduleRules } from './schedule-rules.js';
import { endRun, type RunEnding } from './slot-ledger.decider.js';

/** A run of a schedule is over: the next slot may be run, or the schedule pauses itself. */
export class EndScheduleRun extends Command<void> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly runId: RunId,
    readonly ending: RunEnding,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(EndScheduleRun)
export class EndScheduleRunHandler implements ICommandHandler<EndScheduleRun> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, runId, ending, cause }: EndScheduleRun): Promise<void> {
    const decision = endRun(runId, ending, this.rules, this.clock.now());
    await this.streams.transact(scheduleStream(scheduleId), schedule, decision, cause);
  }
}
