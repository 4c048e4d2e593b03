import { Cron, CronPattern } from 'croner';
import { LRUCache } from 'lru-cache';

/** A cron expression in local time: the days on which it is due, and the minutes of such a day. */
export type CronPlan = Readonly<{
  /** Minutes of the day, in order: 90 is half past one. */
  minutes: readonly number[];
  /**
   * True without `*` and steps in minute and hour. Then slots that a clock change skips are made up for, and repeated ones are
   * not due twice.
   */
  isFixed: boolean;
  /** Takes a day as the number of days since 1970-01-01. Undefined: every day is due. */
  isDue: DayRule | undefined;
}>;

type DayRule = (day: number) => boolean;

/** The number of cached plans. To make one costs as much as to count the slots of a month. */
const PLANS_KEPT_MAX = 1_000;
/** The number of cached day rules. Each holds a parsed pattern of about 80 kB. */
const DAY_RULES_KEPT_MAX = 100;
/** The number of days for which a rule caches its answer. */
const DAYS_REMEMBERED_MAX = 1_000;

const DAY_MS = 86_400_000;
const MINUTES_PER_HOUR = 60;
const MINUTES_PER_DAY = 1_440;
const EVERY_DAY = '* * *';

const plans = new LRUCache<string, CronPlan>({ max: PLANS_KEPT_MAX, memoMethod: madePlan });
const dayRules = new LRUCache<string, DayRule>({ max: DAY_RULES_KEPT_MAX, memoMethod: dayRule });

/** The plan of a cron expression with five fields. It is valid, because it was checked when its schedule was created. */
export const planOf = (cron: string): CronPlan => plans.memo(cron);

/** Whether any two slots of a plan are an hour or less apart. */
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

/** Asks the cron library with a UTC calendar, because the due days are the same in all time zones. */
function dayRule(days: string): DayRule {
  const cron = new Cron(`0 0 ${days}`, { utcOffset: 0, mode: '5-part' });
  const answers = new LRUCache<number, boolean>({
    max: DAYS_REMEMBERED_MAX,
    memoMethod: (day) => cron.match(new Date(day * DAY_MS)),
  });
  return (day) => answers.memo(day);
}

const chosen = (field: readonly number[]): readonly number[] => field.flatMap((set, value) => (set ? [value] : []));
