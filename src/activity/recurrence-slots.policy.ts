import type { ClockPiece } from './clock-pieces.policy.js';
import type { CronPlan } from './cron-plan.policy.js';

/** Slots as a sum. */
export type SlotSum = Readonly<{ count: number; first: number; last: number }>;

/** A stretch of a day by its clock: which of the plan's minutes lie in it, and when that day began for clocks so far ahead. */
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
    let sum: SlotSum | undefined;
    const add = (count: number, first: number, last: number) =>
      (sum = { count: count + (sum?.count ?? 0), first: sum?.first ?? first, last });
    for (const part of this.parts(from, until)) {
      if (typeof part === 'number') add(1, part, part);
      else add(part.end - part.first, this.moment(part, part.first), this.moment(part, part.end - 1));
    }
    return sum;
  }

  /** Each of them, in order. */
  *between(from: number, until: number): Generator<number, void> {
    for (const part of this.parts(from, until)) {
      if (typeof part === 'number') yield part;
      else for (let index = part.first; index < part.end; index++) yield this.moment(part, index);
    }
  }

  private moment({ midnight }: Stretch, index: number): number {
    return midnight + this.plan.minutes[index]! * MINUTE_MS;
  }

  private *parts(from: number, until: number): Generator<number | Stretch, void> {
    for (const piece of this.pieces) {
      const begin = Math.max(from, piece.from);
      const end = Math.min(until, piece.until);
      if (begin >= end) continue;
      if (this.plan.isFixed && begin === piece.from && this.isDueInGap(piece)) yield begin;
      // What the clocks had shown before they went back is not due again.
      const shown = this.plan.isFixed ? Math.max(begin + piece.offsetMs, piece.from + piece.beforeMs) : begin + piece.offsetMs;
      yield* this.stretches(shown, end + piece.offsetMs, piece.offsetMs);
    }
  }

  /** Whether something was due while the clocks jumped, and the minute after is not due anyway. */
  private isDueInGap({ from, offsetMs, beforeMs }: ClockPiece): boolean {
    const isDue = (begin: number, end: number) => !this.stretches(begin, end, offsetMs).next().done;
    const after = from + offsetMs;
    return isDue(from + beforeMs, after) && !isDue(after, after + MINUTE_MS);
  }

  /** The plan between two readings of a clock. */
  private *stretches(begin: number, end: number, offsetMs: number): Generator<Stretch, void> {
    const { minutes, isDue } = this.plan;
    const first = Math.ceil(begin / MINUTE_MS);
    const last = Math.ceil(end / MINUTE_MS);
    for (let day = Math.floor(first / MINUTES_PER_DAY); day * MINUTES_PER_DAY < last; day++) {
      if (!isDue(day)) continue;
      const midnight = day * MINUTES_PER_DAY;
      const stretch = { first: placeOf(minutes, first - midnight), end: placeOf(minutes, last - midnight) };
      if (stretch.first < stretch.end) yield { ...stretch, midnight: midnight * MINUTE_MS - offsetMs };
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
