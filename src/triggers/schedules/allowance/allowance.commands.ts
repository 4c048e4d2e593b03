import { CommandHandler } from '@nestjs/cqrs';
import { ScheduleQueries } from '../../../../projections/schedules/schedules.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { ScheduleRules } from '../schedule/schedule-rules.js';
import type { ScheduleId } from '../schedule/schedule.events.js';
import { admit, allowance, release } from './allowance.decider.js';
import { allowanceStream } from './allowance.events.js';

/** A schedule takes a place among its owner's, or gives back the one of a schedule that came to nothing. */
export class AdmitSchedule extends Command<void> {
  constructor(
    readonly ownerId: string,
    readonly scheduleId: ScheduleId,
    readonly cause: Cause,
    readonly wanted: 'place' | 'no-place' = 'place',
  ) {
    super();
  }
}

@CommandHandler(AdmitSchedule)
export class AdmitScheduleHandler implements Handler<AdmitSchedule> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
    private readonly schedules: ScheduleQueries,
  ) {}

  async execute({ ownerId, scheduleId, cause, wanted }: AdmitSchedule): Promise<void> {
    const max = this.rules.perUserMax;
    if (max === 0) return;
    const admission = { ownerId, scheduleId, now: this.clock.now(), max };
    const decision =
      wanted === 'place' ? admit(admission, new Set(await this.schedules.openOf(ownerId))) : release(ownerId, scheduleId);
    await this.streams.transact(allowanceStream(ownerId), allowance, decision, cause);
  }
}
