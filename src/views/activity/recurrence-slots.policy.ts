import type { ClockPiece } from './clock-pieces.policy.js';
import type { CronPlan } from './cron-plan.policy.js';

/** Slots as a sum. */
export type SlotSum = Readonly<{ count: number; first: number; last: number }>;

/** Days of a plan by a clock that is not set meanwhile: which of its minutes, counted on over the days, and when the first day began. */
type Stretch = Readonly<{ first: number; end: number; midnight: number }>;

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;

/**
 * The slots of a recurrence, reckoned from its fields: by days, not by slots. They are the same as a look at each slot in turn
 * gives, also on days when clocks change. A moment counts in milliseconds; times begin inclusive and end exclusive.
 */
export class RecurrenceSlots {
  constructor(
    private readonly plan: CronPlan,
    private readonly pieces: readonly ClockPiece[],
  ) {}

  /** How many there are; undefined where there is none. */
  sum(from: number, until: number): SlotSum | undefined {
    let [count, first, last] = [0, 0, 0];
    this.each(from, until, (stretch) => {
      if (count === 0) first = this.moment(stretch, stretch.first);
      last = this.moment(stretch, stretch.end - 1);
      count += stretch.end - stretch.first;
    });
    return count === 0 ? undefined : { count, first, last };
  }

  /** Each of them, in order. */
  between(from: number, until: number): readonly number[] {
    const slots: number[] = [];
    this.each(from, until, (stretch) => {
      for (let place = stretch.first; place < stretch.end; place++) slots.push(this.moment(stretch, place));
    });
    return slots;
  }

  private moment({ midnight }: Stretch, place: number): number {
    const { minutes } = this.plan;
    if (place < minutes.length) return midnight + minutes[place]! * MINUTE_MS;
    const day = Math.floor(place / minutes.length);
    return midnight + (day * MINUTES_PER_DAY + minutes[place - day * minutes.length]!) * MINUTE_MS;
  }

  private each(from: number, until: number, take: (stretch: Stretch) => void): void {
    for (const piece of this.pieces) {
      const begin = Math.max(from, piece.from);
      const end = Math.min(until, piece.until);
      if (begin >= end) continue;
      if (this.plan.isFixed && begin === piece.from && this.isDueInGap(piece)) take(this.onlyAt(begin));
      // What the clocks had shown before they went back is not due again.
      const shown = this.plan.isFixed ? Math.max(begin + piece.offsetMs, piece.from + piece.beforeMs) : begin + piece.offsetMs;
      this.stretches(shown, end + piece.offsetMs, piece.offsetMs, take);
    }
  }

  /** Whether something was due while the clocks jumped, and the minute after is not due anyway. */
  private isDueInGap({ from, offsetMs, beforeMs }: ClockPiece): boolean {
    const isDue = (begin: number, end: number) => {
      let found = false;
      this.stretches(begin, end, offsetMs, () => (found = true));
      return found;
    };
    const after = from + offsetMs;
    return isDue(from + beforeMs, after) && !isDue(after, after + MINUTE_MS);
  }

  private onlyAt(moment: number): Stretch {
    return { first: 0, end: 1, midnight: moment - this.plan.minutes[0]! * MINUTE_MS };
  }

  /** The plan between two readings of a clock: in one where every day is due, else day by day. */
  private stretches(begin: number, end: number, offsetMs: number, take: (stretch: Stretch) => void): void {
    const { minutes, isDue } = this.plan;
    const from = Math.ceil(begin / MINUTE_MS);
    const until = Math.ceil(end / MINUTE_MS);
    const firstDay = Math.floor(from / MINUTES_PER_DAY);
    const lastDay = Math.floor(until / MINUTES_PER_DAY);
    const start = placeOf(minutes, from - firstDay * MINUTES_PER_DAY);
    const stop = placeOf(minutes, until - lastDay * MINUTES_PER_DAY);
    const taken = (day: number, first: number, last: number) => {
      if (first < last) take({ first, end: last, midnight: day * MINUTES_PER_DAY * MINUTE_MS - offsetMs });
    };
    if (!isDue) return taken(firstDay, start, (lastDay - firstDay) * minutes.length + stop);
    for (let day = firstDay; day <= lastDay; day++) {
      if (isDue(day)) taken(day, day === firstDay ? start : 0, day === lastDay ? stop : minutes.length);
    }
  }
}

/** How many of the minutes are before one. */
function placeOf(minutes: readonly number[], minute: number): number {
  if (minute <= 0) return 0;
  if (minute >= MINUTES_PER_DAY) return minutes.length;
  let [low, high] = [0, minutes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (minutes[middle]! < minute) low = middle + 1;
    else high = middle;
  }
  return low;
}
