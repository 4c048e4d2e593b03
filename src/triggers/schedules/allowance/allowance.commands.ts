import { CommandHandler } from '@nestjs/cqrs';
import { ScheduleQueries } from '../../../../projections/schedules/schedules.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { ScheduleRules } from '../schedule/schedule-rules.js';
import type { ScheduleId } from '../schedule/schedule.events.js';
import { admit, admitToUnusedPlace, type Allowance, allowance, release } from './allowance.decider.js';
import { type AllowanceEvent, allowanceStream } from './allowance.events.js';

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
    private readonly freshness: Freshness,
    private readonly store: EventStore,
  ) {}

  /**
   * A place that was taken is free again once the read model shows that its schedule has ended or does not exist. A read model
   * that is behind does not show it. @throws Rejection too-many-schedules; ReadModelsBehind
   */
  async execute({ ownerId, scheduleId, cause, wanted }: AdmitSchedule): Promise<void> {
    const max = this.rules.perUserMax;
    if (max === 0) return;
    const decide = (decision: Decision<Allowance, AllowanceEvent>) =>
      this.streams.transact(allowanceStream(ownerId), allowance, decision, cause);
    const admission = { ownerId, scheduleId, now: this.clock.now(), max };
    const { state } = await decide(wanted === 'place' ? admitToUnusedPlace(admission) : release(ownerId, scheduleId));
    if (wanted === 'no-place' || scheduleId in state) return;
    await requireReached(this.freshness, ['schedules'], await this.store.head());
    await decide(admit(admission, new Set(await this.schedules.openOf(ownerId))));
  }
}
