import { Cron, CronPattern } from 'croner';

/** What a recurrence says of a day by its clock: which days are its own, and at which of their minutes it is due. */
export type CronPlan = Readonly<{
  /** Minutes of the day, in order: 90 is half past one. */
  minutes: readonly number[];
  /** No `*` and no step in minute and hour: what the clocks leave out or show twice is made up for. */
  isFixed: boolean;
  /** The days of the calendar, counted from 1970-01-01; undefined: every one. */
  isDue: DayRule | undefined;
}>;

type DayRule = (day: number) => boolean;

/** How many plans are kept: making one costs as much as counting the slots of a month. */
const PLANS_KEPT_MAX = 1_000;
/** How many rules for days are kept; each holds a parsed pattern of some 80 kB. */
const DAY_RULES_KEPT_MAX = 100;
/** How many days a rule remembers its answers for. */
const DAYS_REMEMBERED_MAX = 1_000;

const DAY_MS = 86_400_000;
const MINUTES_PER_HOUR = 60;
const MINUTES_PER_DAY = 1_440;
const EVERY_DAY = '* * *';

const plans = new Map<string, CronPlan>();
const dayRules = new Map<string, DayRule>();

/** The plan of five fields that were accepted when their schedule was made. */
export const planOf = (cron: string): CronPlan => kept(plans, PLANS_KEPT_MAX, cron, madePlan);

/** Whether two slots of a plan are ever an hour or less apart. */
export function isFrequent({ minutes }: CronPlan): boolean {
  const last = minutes.at(-1)! - MINUTES_PER_DAY;
  return minutes.some((minute, index) => minute - (minutes[index - 1] ?? last) <= MINUTES_PER_HOUR);
}

function madePlan(cron: string): CronPlan {
  const pattern = new CronPattern(cron, undefined, { mode: '5-part', fixedTimeRule: 'no-wildcard' });
  const hours = chosen(pattern.hour);
  const minutes = chosen(pattern.minute);
  const days = cron.trim().split(/\s+/).slice(2).join(' ');
  return {
    minutes: hours.flatMap((hour) => minutes.map((minute) => hour * MINUTES_PER_HOUR + minute)),
    isFixed: pattern.isFixedTime,
    isDue: days === EVERY_DAY ? undefined : kept(dayRules, DAY_RULES_KEPT_MAX, days, dayRule),
  };
}

/** Asks the library of a calendar without clocks: what days are due is the same in all zones. */
function dayRule(days: string): DayRule {
  const cron = new Cron(`0 0 ${days}`, { utcOffset: 0, mode: '5-part' });
  const known = new Map<number, boolean>();
  return (day) => kept(known, DAYS_REMEMBERED_MAX, day, () => cron.match(new Date(day * DAY_MS)));
}

const chosen = (field: readonly number[]): readonly number[] => field.flatMap((set, value) => (set ? [value] : []));

function kept<Key, Value>(known: Map<Key, Value>, max: number, key: Key, make: (key: Key) => Value): Value {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make(key);
  if (known.size === max) known.delete(known.keys().next().value!);
  known.set(key, made);
  return made;
}
