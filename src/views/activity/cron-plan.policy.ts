import { Cron, CronPattern } from 'croner';
import { LRUCache } from 'lru-cache';

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

const plans = new LRUCache<string, CronPlan>({ max: PLANS_KEPT_MAX, memoMethod: madePlan });
const dayRules = new LRUCache<string, DayRule>({ max: DAY_RULES_KEPT_MAX, memoMethod: dayRule });

/** The plan of five fields that were accepted when their schedule was made. */
export const planOf = (cron: string): CronPlan => plans.memo(cron);

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
    isDue: days === EVERY_DAY ? undefined : dayRules.memo(days),
  };
}

/** Asks the library of a calendar without clocks: what days are due is the same in all zones. */
function dayRule(days: string): DayRule {
  const cron = new Cron(`0 0 ${days}`, { utcOffset: 0, mode: '5-part' });
  const answers = new LRUCache<number, boolean>({
    max: DAYS_REMEMBERED_MAX,
    memoMethod: (day) => cron.match(new Date(day * DAY_MS)),
  });
  return (day) => answers.memo(day);
}

const chosen = (field: readonly number[]): readonly number[] => field.flatMap((set, value) => (set ? [value] : []));
