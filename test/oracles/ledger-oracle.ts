import { expect } from '@jest/globals';
import { runIdOf, type ScheduleEvent, type ScheduleTiming } from '../../src/triggers/schedules/schedule/schedule.events.js';
import { Days, type Fields } from './recurrence-oracle.js';

type Slot = Extract<ScheduleEvent, { data: { slot: string } }>;

const FATES: ReadonlySet<string> = new Set(['ScheduleRunQueued', 'ScheduleMissed', 'ScheduleSlotPaused', 'ScheduleSlotSkipped']);

const isSlot = (event: ScheduleEvent): event is Slot => FATES.has(event.type);
const isPauseOf = (event: ScheduleEvent): boolean => event.type === 'SchedulePaused' || event.type === 'ScheduleAutoPaused';
/** The types of slot events, in the order of the log. */
export const fatesIn = (events: readonly ScheduleEvent[]): readonly string[] =>
  events.filter((event) => isSlot(event) || event.type === 'ScheduleSlotsPaused').map(({ type }) => type);
export const slotsIn = (events: readonly ScheduleEvent[]): readonly string[] =>
  events.filter(isSlot).map(({ data }) => data.slot);

/** The slots of a schedule, derived only from its timing and from every minute on the clocks of its zone. */
export class LedgerOracle {
  private readonly days = new Map<string, Days>();
  private readonly known = new Map<string, readonly string[]>();

  /** No slot outside these is asked for. */
  constructor(
    private readonly from: number,
    private readonly until: number,
  ) {}

  /** The slots of a timing after one time and up to another. */
  between(timing: ScheduleTiming, after: string, until: string): readonly string[] {
    return this.all(timing).filter((slot) => slot > after && slot <= until);
  }

  /** The slots in a ledger, in its order, with those of each pause in their place. */
  slotsStated(events: readonly ScheduleEvent[]): readonly string[] {
    let timing: ScheduleTiming | undefined;
    return events.flatMap((event) => {
      timing = saidOf(event)?.timing ?? timing;
      if (event.type === 'ScheduleSlotsPaused') return this.between(timing!, event.data.after, event.data.until);
      return isSlot(event) ? [event.data.slot] : [];
    });
  }

  /**
   * The slots that a ledger must have once everything up to a time is decided. Each timing counts from when it was set, or from
   * the last decision before. The slots of a pause that has not ended are not in it yet.
   */
  slotsOf(events: readonly ScheduleEvent[], until: string): readonly string[] {
    const slots: string[] = [];
    let timing: ScheduleTiming | undefined;
    let since = '';
    let decided = '';
    let isPaused = false;
    const close = (at: string) => {
      if (timing) slots.push(...this.between(timing, since, at));
      since = at;
    };
    for (const event of events) {
      if (isSlot(event)) decided = event.data.slot;
      if (event.type === 'ScheduleSlotsPaused') decided = event.data.until;
      if (isPauseOf(event)) isPaused = true;
      if (event.type === 'ScheduleResumed') isPaused = false;
      const said = saidOf(event);
      if (!said) continue;
      const at = latest(said.at, latest(decided, since));
      close(said.isForGood ? (said.until ?? at) : at);
      // It can still be edited then, which adds no slots.
      if (said.isForGood) return slots;
      timing = said.timing;
    }
    close(isPaused && timing?.kind === 'recurring' ? latest(since, decided) : latest(until, decided));
    return slots;
  }

  private all(timing: ScheduleTiming): readonly string[] {
    if (timing.kind === 'once') return [timing.runAt];
    const { cron, timezone, endAt } = timing;
    const key = `${timezone} ${cron}`;
    const slots = this.known.get(key) ?? this.daysOf(timezone).slots(cron.split(' ') as unknown as Fields);
    this.known.set(key, slots);
    return endAt === null ? slots : slots.filter((slot) => slot <= endAt);
  }

  private daysOf(timezone: string): Days {
    const days = this.days.get(timezone) ?? new Days(timezone, this.from, this.until);
    this.days.set(timezone, days);
    return days;
  }
}

const latest = (one: string, other: string): string => (one > other ? one : other);

type Said = Readonly<{ at: string; timing?: ScheduleTiming; isForGood?: boolean; until?: string }>;

/** The timing that an event sets. A completed schedule has had all its slots. */
function saidOf({ type, data }: ScheduleEvent): Said | undefined {
  switch (type) {
    case 'ScheduleCreated':
      return { at: data.createdAt, timing: data.definition.timing };
    case 'ScheduleChanged':
      return data.changes.timing && { at: data.changedAt, timing: data.changes.timing };
    case 'ScheduleResumed':
      return data.timing && { at: data.resumedAt, timing: data.timing };
    case 'ScheduleCompleted':
      return { at: data.completedAt, isForGood: true, until: FOREVER };
    case 'ScheduleCancelled':
      return { at: data.cancelledAt, isForGood: true };
    case 'ScheduleDeleted':
      return { at: data.deletedAt, isForGood: true };
    default:
      return undefined;
  }
}

const FOREVER = '9999';

/**
 * Expects slots to be paused exactly during pauses, skipped only for a valid reason, and run one at a time under unique run ids.
 */
export function expectFitting(events: readonly ScheduleEvent[]): void {
  let isPaused = false;
  let openRun: string | undefined;
  for (const [index, event] of events.entries()) {
    const { type, data } = event;
    if (isPauseOf(event)) isPaused = true;
    if (type === 'ScheduleResumed') isPaused = false;
    if (isSlot(event)) expect(type === 'ScheduleSlotPaused').toBe(isPaused);
    if (type === 'ScheduleSlotsPaused') expect(isPaused).toBe(true);
    if (type === 'ScheduleSlotSkipped') {
      const next = events.slice(index).find((each) => !isSlot(each))?.type;
      const isCalledOff = next === 'ScheduleCancelled' || next === 'ScheduleDeleted';
      expect(data.reason === 'overlap' ? openRun !== undefined : isCalledOff).toBe(true);
    }
    if (type === 'ScheduleRunQueued' || type === 'ScheduleRunRequested') {
      expect(openRun).toBeUndefined();
      openRun = data.runId;
    }
    if (type === 'ScheduleRunQueued') expect(data.runId).toBe(runIdOf(data.scheduleId, data.slot));
    if (type === 'ScheduleRunEnded') openRun = undefined;
  }
}
