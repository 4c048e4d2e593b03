/** An environment variable: its name, its default, and the parser of its text. */
export type Setting<T> = Readonly<{
  variable: string;
  /** The default as `.env.example` shows it; undefined if an unset variable has a meaning of its own. */
  fallback: string | undefined;
  /** @throws Error whose message follows the name of the variable */
  parse: (text: string) => T;
}>;

const setting = <T>(variable: string, fallback: string | undefined, parse: (text: string) => T): Setting<T> => ({
  variable,
  fallback,
  parse,
});

/** A setting whose value is undefined if the variable is unset. */
export type Optional<T> = Setting<T> & Readonly<{ optional: true }>;

export const optional = <T>(of: Setting<T>): Optional<T> => ({ ...of, fallback: undefined, optional: true });

export const text = (variable: string, fallback = ''): Setting<string> => setting(variable, fallback, (value) => value);

export const oneOf = <T extends string>(variable: string, fallback: T, ...allowed: readonly T[]): Setting<T> =>
  setting(variable, fallback, (value) => {
    const found = allowed.find((option) => option === value.toLowerCase());
    if (found === undefined) throw new Error(`must be one of ${allowed.join(', ')}, not "${value}".`);
    return found;
  });

export const flag = (variable: string, fallback: boolean): Setting<boolean> =>
  setting(variable, String(fallback), (value) => {
    if (/^(true|1|yes|on)$/i.test(value)) return true;
    if (/^(false|0|no|off)$/i.test(value)) return false;
    throw new Error(`must be true or false, not "${value}".`);
  });

type Bounds = Readonly<{ min?: number; max?: number }>;

export const integer = (variable: string, fallback: number, bounds: Bounds = {}): Setting<number> =>
  setting(variable, String(fallback), (value) => {
    if (!/^[+-]?\d+$/.test(value)) throw new Error(`must be a whole number, not "${value}".`);
    return within(Number(value), { min: 0, max: Number.MAX_SAFE_INTEGER, ...bounds });
  });

/** The maximum of a 32-bit number of seconds, 68 years. The event stores have this limit for ages. */
export const DURATION_SECONDS_MAX = 2 ** 31 - 1;
const HOURS_MAX = Math.floor(DURATION_SECONDS_MAX / 3_600);
const DAYS_MAX = Math.floor(DURATION_SECONDS_MAX / 86_400);

/** The longest timer, 24 days. Node fires a longer one at once. */
const TIMER_SECONDS_MAX = Math.floor((2 ** 31 - 1) / 1_000);

/**
 * A time in seconds, also with fractions. The value is in milliseconds and within the range of a timer, unless `max` is given.
 */
export const secondsAsMs = (variable: string, fallback: number, bounds: Bounds = {}): Setting<number> =>
  setting(variable, String(fallback), (value) =>
    Math.round(1000 * within(decimal(value), { min: 0.001, max: TIMER_SECONDS_MAX, ...bounds })),
  );

/** A time in hours, also with fractions. The value is in milliseconds. */
export const hoursAsMs = (variable: string, fallback: number): Setting<number> =>
  setting(variable, String(fallback), (value) =>
    Math.round(3_600_000 * within(decimal(value), { min: 0.000001, max: HOURS_MAX })),
  );

/** A time in days, also with fractions. The value is in seconds. */
export const daysAsSeconds = (variable: string, fallback: number): Setting<number> =>
  setting(variable, String(fallback), (value) => Math.ceil(86_400 * within(decimal(value), { min: 0.00001, max: DAYS_MAX })));

export const list = (variable: string, fallback = ''): Setting<readonly string[]> =>
  setting(variable, fallback, (value) => itemsOf(value));

/** A setting with an additional check, which throws for invalid values. */
export const checked = <T>(of: Setting<T>, check: (value: T) => unknown): Setting<T> => ({
  ...of,
  parse: (value) => {
    const parsed = of.parse(value);
    check(parsed);
    return parsed;
  },
});

export const listOf = <T extends string>(variable: string, allowed: readonly T[]): Setting<readonly T[]> =>
  setting(variable, allowed.join(','), (value) => {
    const items = itemsOf(value);
    const unknown = items.find((item) => !(allowed as readonly string[]).includes(item));
    if (unknown !== undefined) throw new Error(`may hold ${allowed.join(', ')}, not "${unknown}".`);
    if (items.length === 0) throw new Error(`must name at least one of ${allowed.join(', ')}.`);
    return allowed.filter((item) => items.includes(item));
  });

export const url = (variable: string, ...protocols: readonly string[]): Setting<string> =>
  setting(variable, undefined, (value) => {
    const protocol = URL.canParse(value) ? new URL(value).protocol : undefined;
    if (protocol === undefined || !protocols.includes(protocol)) {
      throw new Error(`must be a URL that starts with ${protocols.map((one) => `${one}//`).join(' or ')}.`);
    }
    return value;
  });

/**
 * Origins in the form in which browsers send them, because origins are compared as a whole: another form would allow no page. An
 * asterisk alone stands for all, as no entry does.
 */
export const origins = (variable: string): Setting<readonly string[]> =>
  setting(variable, '', (value) => {
    const entries = value.trim() === '*' ? [] : itemsOf(value);
    const wrong = entries.find((entry) => entry !== 'null' && !isOrigin(entry));
    if (wrong === undefined) return entries;
    throw new Error(`holds "${wrong}", but must hold origins as browsers send them, such as https://example.com, or be empty.`);
  });

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, host } = new URL(text);
  return text === (origin === 'null' ? `${protocol}//${host}` : origin) && !host.includes('*');
}

/** An http or https URL with a default. */
export const webUrl = (variable: string, fallback: string): Setting<string> => ({
  ...url(variable, 'http:', 'https:'),
  fallback,
});

const itemsOf = (value: string): readonly string[] =>
  [...new Set(value.split(',').map((item) => item.trim()))].filter((item) => item !== '');

function decimal(value: string): number {
  if (!/^[+-]?\d+(\.\d+)?$/.test(value)) throw new Error(`must be a number, not "${value}".`);
  return Number(value);
}

function within(value: number, { min = -Infinity, max = Infinity }: Bounds): number {
  if (value < min) throw new Error(`must be at least ${min}, not ${value}.`);
  if (value > max) throw new Error(`must be at most ${max}, not ${value}.`);
  return value;
}
