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

/** Reserves a place for a schedule within its owner's limit, or releases the place of a schedule that was not created. */
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
