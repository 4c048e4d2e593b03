import type { ScheduleTiming } from '../../triggers/schedules/schedule/schedule.events.js';
import type { ClockPiece } from './clock-pieces.policy.js';
import { isFrequent, planOf } from './cron-plan.policy.js';
import { RecurrenceSlots, type SlotSum } from './recurrence-slots.policy.js';

/** The state of a slot without a run, for a calendar. */
export type SlotState = 'planned' | 'paused' | 'missed';

/** The parts of a schedule that determine its coming slots. */
export type Forecastable = Readonly<{
  status: string;
  timing: ScheduleTiming;
  nextSlotAt: Date | null;
  markedSince: Date;
}>;

/** A period in milliseconds since 1970, including `from` and excluding `until`. */
export type Span = Readonly<{ from: number; until: number }>;

export type ForecastRules = Readonly<{
  now: number;
  window: Span;
  /** The period in which slots without a run count as missed. */
  missed: Span;
  pieces: (timezone: string) => readonly ClockPiece[];
}>;

type Slots = Pick<RecurrenceSlots, 'sum' | 'between'>;

/** Undecided slots that all have the same state. */
export class Stretch {
  constructor(
    readonly state: SlotState,
    private readonly span: Span,
    private readonly slots: Slots,
  ) {}

  get count(): number {
    return this.sum(this.span)?.count ?? 0;
  }

  each(): readonly number[] {
    return this.slots.between(this.span.from, this.span.until);
  }

  /** The slots within a part of the window. */
  sum(part: Span): SlotSum | undefined {
    const { from, until } = overlap(part, this.span);
    return from < until ? this.slots.sum(from, until) : undefined;
  }
}

/**
 * The undecided slots of a schedule. A due slot stays planned while its run may still start, and is missed from the time that the
 * rules set. A paused schedule skips its slots, so it has only future ones.
 */
export function forecastOf(schedule: Forecastable, { now, window, missed, pieces }: ForecastRules): readonly Stretch[] {
  const { status, timing, nextSlotAt, markedSince } = schedule;
  if (!nextSlotAt || (status !== 'active' && status !== 'paused')) return [];
  const endAt = timing.kind === 'recurring' && timing.endAt !== null ? Date.parse(timing.endAt) + 1 : Infinity;
  const undecided = overlap(window, { from: nextSlotAt.getTime(), until: endAt });
  const slots = slotsOf(timing, pieces);
  const stretch = (state: SlotState, span: Span) => new Stretch(state, overlap(undecided, span), slots);
  if (status === 'paused') return [stretch('paused', { from: now + 1, until: Infinity })];
  return [
    stretch('missed', overlap(missed, { from: markedSince.getTime(), until: Infinity })),
    stretch('planned', { from: missed.until, until: Infinity }),
  ];
}

/** Whether a timing ever has slots an hour or less apart. */
export const isFrequentTiming = (timing: ScheduleTiming): boolean =>
  timing.kind === 'recurring' && isFrequent(planOf(timing.cron));

const overlap = (one: Span, other: Span): Span => ({
  from: Math.max(one.from, other.from),
  until: Math.min(one.until, other.until),
});

function slotsOf(timing: ScheduleTiming, pieces: ForecastRules['pieces']): Slots {
  if (timing.kind === 'recurring') return new RecurrenceSlots(planOf(timing.cron), pieces(timing.timezone));
  const at = Date.parse(timing.runAt);
  const isIn = (from: number, until: number) => from <= at && at < until;
  return {
    sum: (from, until) => (isIn(from, until) ? { count: 1, first: at, last: at } : undefined),
    between: (from, until) => (isIn(from, until) ? [at] : []),
  };
}
