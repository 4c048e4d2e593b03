import { Injectable } from '@nestjs/common';
import { Commands } from '../../kernel/commands.js';
import { type DueSchedule, ScheduleQueries } from '../../../projections/schedules/schedules.queries.js';
import { collectFailures } from '../../kernel/each-of.js';
import { StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { Failures } from '../../kernel/failures.js';
import { Ids } from '../../kernel/ids.js';
import { causeOfTick, type Ticker } from '../../kernel/event-sourcing/ticker.js';
import type { Schedule } from './schedule/schedule.decider.js';
import { ScheduleRules } from './schedule/schedule-rules.js';
import { SchedulerHeartbeat } from './scheduler-heartbeat.port.js';
import { DecideSlots } from './schedule/slot-ledger.commands.js';
import { waitsUntil } from './schedule/slot-ledger.decider.js';

/** Interval between two polls for due slots. */
const EVERY_MS = 1_000;
export const SCHEDULES_PER_PAGE_MAX = 500;
/** Maximum number of schedules per tick. The next tick continues with the ones that have been due for longest. */
export const SCHEDULES_PER_TICK_MAX = 20_000;
/** Maximum number of concurrent appends, which the store combines into fewer writes. */
const SIDE_BY_SIDE_MAX = 64;

/**
 * Decides on the due slots of all schedules. The read model only lists candidates: if two processes poll at once, or one polls
 * twice, each slot is still decided once.
 */
@Injectable()
export class DueSchedules implements Ticker {
  readonly name = 'due-schedules';
  readonly everyMs = EVERY_MS;
  /**
   * Schedules whose due slot cannot be decided before `until`, because it waits to be missed or for a run to end. They are
   * skipped until then.
   */
  private waiting = new Map<string, Readonly<{ slot: number; until: number }>>();
  /** The schedules whose run could not be timed out. */
  private readonly stuck = new Failures();

  constructor(
    private readonly commands: Commands,
    private readonly schedules: ScheduleQueries,
    private readonly rules: ScheduleRules,
    private readonly heartbeat: SchedulerHeartbeat,
    private readonly ids: Ids,
  ) {}

  async tick(now: Date): Promise<void> {
    const overdue = new Date(now.getTime() - this.rules.runLimitMs);
    const late = await this.schedules.runningSince(overdue, this.stuck.pageFor(SCHEDULES_PER_PAGE_MAX));
    this.stuck.retain(late);
    const next = this.stuck.next(late, (scheduleId) => scheduleId, SCHEDULES_PER_PAGE_MAX);
    const timeOut = (scheduleId: string) => this.stuck.attempt(scheduleId, () => this.decide(scheduleId));
    const failures = await collectFailures(next, timeOut, SIDE_BY_SIDE_MAX);
    const { isDone, failed } = await this.decideDue(now);
    if (isDone) await this.heartbeat.beat(now);
    const all = [...failures, ...failed];
    if (all.length > 0) throw new Error(`Schedules that could not be decided on: ${all.length}.`, { cause: all[0] });
  }

  /** Returns whether all due schedules were processed, and the errors of single schedules. */
  private async decideDue(now: Date): Promise<Readonly<{ isDone: boolean; failed: readonly unknown[] }>> {
    let isDone = false;
    const failed: unknown[] = [];
    const waiting = new Map<string, Readonly<{ slot: number; until: number }>>();
    let after: DueSchedule | undefined;
    let checked = 0;
    while (checked < SCHEDULES_PER_TICK_MAX && !isDone) {
      const page = await this.schedules.due(now, SCHEDULES_PER_PAGE_MAX, after);
      const check = async ({ scheduleId, nextSlotAt }: DueSchedule) => {
        const slot = nextSlotAt.getTime();
        const wait = this.waiting.get(scheduleId);
        if (wait?.slot === slot && wait.until > now.getTime()) return void waiting.set(scheduleId, wait);
        checked++;
        const until = waitsUntil(await this.decide(scheduleId), this.rules, now);
        if (until) waiting.set(scheduleId, { slot, until: until.getTime() });
      };
      const failures = await collectFailures(page, check, SIDE_BY_SIDE_MAX);
      failed.push(...failures);
      after = page.at(-1);
      isDone = page.length < SCHEDULES_PER_PAGE_MAX;
      // While the store is away, no schedule can be decided on.
      if (failures.length === page.length && failures.some((error) => error instanceof StoreUnavailable))
        return { isDone: false, failed };
    }
    this.waiting = waiting;
    return { isDone, failed };
  }

  private decide(scheduleId: string): Promise<Schedule> {
    return this.commands.execute(new DecideSlots(scheduleId, causeOfTick(this, this.ids.next())));
  }
}
