import { CommandHandler } from '@nestjs/cqrs';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { transactCaughtUp } from './catch-up.js';
import { ScheduleRules } from './schedule-rules.js';
import { schedule, type Schedule } from './schedule.decider.js';
import { type RunId, type ScheduleId, scheduleStream } from './schedule.events.js';
import { SLOTS_PER_APPEND_MAX } from './schedule.policy.js';
import { endRun, type RunEnding, decideSlots } from './slot-ledger.decider.js';

/** Decides on the due slots of a schedule. Returns its state afterwards. */
export class DecideSlots extends Command<Schedule> {
  constructor(
    readonly scheduleId: ScheduleId,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** Number of cached states. A cached schedule that is due again is decided on without reading its stream. */
const SCHEDULES_REMEMBERED_MAX = 10_000;
/** Maximum number of appends per command for a schedule that is far behind. The next tick continues. */
export const APPENDS_PER_CHECK_MAX = 8;

@CommandHandler(DecideSlots)
export class DecideSlotsHandler implements Handler<DecideSlots> {
  private readonly remembered = new LRUCache<ScheduleId, Folded<Schedule>>({ max: SCHEDULES_REMEMBERED_MAX });

  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, cause }: DecideSlots): Promise<Schedule> {
    const stream = scheduleStream(scheduleId);
    const decide = decideSlots(this.rules, this.clock.now());
    let known = this.remembered.get(scheduleId) ?? (await this.streams.fold(stream, schedule));
    for (let appends = 1; appends <= APPENDS_PER_CHECK_MAX; appends++) {
      let outcome = await this.streams.transact(stream, schedule, decide, cause, known);
      if (outcome.events.length === 0) {
        // The cached state may be outdated, because other processes also decide on the schedule.
        outcome = await this.streams.transact(stream, schedule, decide, cause, await this.streams.fold(stream, schedule, known));
      }
      known = outcome;
      if (outcome.events.length < SLOTS_PER_APPEND_MAX) break;
    }
    const { state, revision, position, characters } = known;
    this.remembered.set(scheduleId, { state, revision, position, characters });
    return state;
  }
}

/** A run of a schedule has ended: the next slot may run, or the schedule pauses itself after too many failures. */
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
export class EndScheduleRunHandler implements Handler<EndScheduleRun> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
    private readonly rules: ScheduleRules,
  ) {}

  async execute({ scheduleId, runId, ending, cause }: EndScheduleRun): Promise<void> {
    const asked = { rules: this.rules, now: this.clock.now() };
    const decision = endRun(runId, ending, asked.rules, asked.now);
    await transactCaughtUp(this.streams, scheduleId, decision, asked, cause);
  }
}

export const slotLedgerHandlers = [DecideSlotsHandler, EndScheduleRunHandler];
