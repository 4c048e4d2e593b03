import type { ClockPiece } from './clock-pieces.policy.js';
import type { CronPlan } from './cron-plan.policy.js';

/** The number of slots and the times of the first and the last. */
export type SlotSum = Readonly<{ count: number; first: number; last: number }>;

/**
 * Consecutive minutes of a plan with the same offset from UTC. `first` and `end` count the plan's minutes across days.
 * `midnight`: when the first day began.
 */
type Stretch = Readonly<{ first: number; end: number; midnight: number }>;

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1_440;

/**
 * The slots of a recurrence, computed from its fields day by day instead of slot by slot. The result equals that of computing
 * each slot in turn, also on days with a clock change. Times are milliseconds since 1970. Periods include their beginning and
 * exclude their end.
 */
export class RecurrenceSlots {
  constructor(
    private readonly plan: CronPlan,
    private readonly pieces: readonly ClockPiece[],
  ) {}

  /** The sum of the slots in a period. Undefined if there are none. */
  sum(from: number, until: number): SlotSum | undefined {
    let [count, first, last] = [0, 0, 0];
    this.each(from, until, (stretch) => {
      if (count === 0) first = this.moment(stretch, stretch.first);
      last = this.moment(stretch, stretch.end - 1);
      count += stretch.end - stretch.first;
    });
    return count === 0 ? undefined : { count, first, last };
  }

  /** The times of the slots in a period, in order. */
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
      // Local times that repeat after the clocks went back are not due again.
      const shown = this.plan.isFixed ? Math.max(begin + piece.offsetMs, piece.from + piece.beforeMs) : begin + piece.offsetMs;
      this.stretches(shown, end + piece.offsetMs, piece.offsetMs, take);
    }
  }

  /** Whether a slot lies in the gap of a clock change and the first minute after the gap has no slot. */
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

  /** The slots between two local times: one stretch if every day is due, otherwise one stretch for each due day. */
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

/** The number of minutes in the list that are before `minute`. */
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
