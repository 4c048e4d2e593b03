const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The periods that a client may request, with the web client's names. */
export const FILTER_OPTIONS = ['last_hour', 'last_24_hour', 'last_7_days', 'last_15_days', 'last_30_days'] as const;
export type FilterOption = (typeof FILTER_OPTIONS)[number];

/**
 * The length of a bucket, the pattern with which Postgres names it, and the function that gives an ISO timestamp the same name.
 */
type Unit = Readonly<{ ms: number; format: string; keyOf: (iso: string) => string }>;

const minutes: Unit = { ms: MINUTE_MS, format: 'YYYY-MM-DD HH24:MI:00', keyOf: (iso) => `${iso.slice(0, 16)}:00` };
const hours: Unit = { ms: HOUR_MS, format: 'YYYY-MM-DD HH24:00', keyOf: (iso) => `${iso.slice(0, 13)}:00` };
const days: Unit = { ms: DAY_MS, format: 'YYYY-MM-DD', keyOf: (iso) => iso.slice(0, 10) };

/** The unit of an option, and the number of units before the current one. */
const RANGES: Readonly<Record<FilterOption, Readonly<{ unit: Unit; before: number }>>> = {
  last_hour: { unit: minutes, before: 60 },
  last_24_hour: { unit: hours, before: 24 },
  last_7_days: { unit: days, before: 6 },
  last_15_days: { unit: days, before: 14 },
  last_30_days: { unit: days, before: 29 },
};

/**
 * A period in buckets of UTC, the earliest first. Days are whole. Minutes and hours are counted back from now, so the first
 * bucket is incomplete.
 */
export type Buckets = Readonly<{ since: Date; until: Date; format: string; keys: readonly string[] }>;

export function bucketsOf(option: FilterOption, now: Date): Buckets {
  const { unit, before } = RANGES[option];
  const first = now.getTime() - before * unit.ms;
  const since = unit === days ? Math.floor(first / DAY_MS) * DAY_MS : first;
  const keys = Array.from({ length: before + 1 }, (_, at) =>
    unit.keyOf(new Date(since + at * unit.ms).toISOString().replace('T', ' ')),
  );
  return { since: new Date(since), until: now, format: unit.format, keys };
}

/** An entry for each bucket, in order. Buckets without a value get `none`. */
export const filled = <Value>(
  { keys }: Buckets,
  known: ReadonlyMap<string, Value>,
  none: Value,
): Readonly<Record<string, Value>> => Object.fromEntries(keys.map((key) => [key, known.get(key) ?? none]));
