import { isJsonObject } from '../json-object.policy.js';
import { cutText } from '../../kernel/cut-text.js';

/** Reads and validates one field of a configuration. */
export type FieldRule<T> = Readonly<{
  /** The default. A field without one is required. */
  fallback?: T;
  /** The value as read; undefined if it is missing or invalid. */
  read: (value: unknown) => T | undefined;
  /** Completes the message "<field> must be …". */
  is: string;
}>;

export type FieldRules<T> = Readonly<{ [Name in keyof T]: FieldRule<T[Name]> }>;

/** The valid fields of an object and the problems of the others. */
export type ReadFields<T> = Readonly<{
  /** The valid fields as they were given. */
  kept: Readonly<Record<string, unknown>>;
  /** All fields with their values or defaults; undefined if one has neither. */
  values: T | undefined;
  problems: readonly string[];
}>;

/** Reads an object by the rules of its fields; `at` is its path in problems. */
export function readFields<T>(value: unknown, rules: FieldRules<T>, at: string): ReadFields<T> {
  if (!isJsonObject(value)) return { kept: {}, values: undefined, problems: [`${at} must be an object.`] };
  const names = Object.keys(rules) as (keyof T & string)[];
  const problems = Object.keys(value)
    .filter((key) => !names.some((name) => name === key))
    .map((key) => `${at}.${cutText(key, KEY_SHOWN_MAX)} is not known.`);
  const kept: Record<string, unknown> = {};
  const values: Partial<T> = {};
  let isComplete = true;
  for (const name of names) {
    const { fallback, read, is } = rules[name];
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const valid = read(given);
    if (valid !== undefined) kept[name] = given;
    else if (given !== undefined || fallback === undefined) problems.push(`${at}.${name} must be ${is}.`);
    const known = valid ?? fallback;
    if (known === undefined) isComplete = false;
    else values[name] = known;
  }
  return { kept, values: isComplete ? (values as T) : undefined, problems };
}

const KEY_SHOWN_MAX = 64;

export const flag = (fallback: boolean): FieldRule<boolean> => ({
  fallback,
  read: (value) => (typeof value === 'boolean' ? value : undefined),
  is: 'true or false',
});

export const oneOf = <T extends string>(options: readonly T[], fallback?: T): FieldRule<T> => ({
  ...(fallback !== undefined && { fallback }),
  read: (value) => options.find((option) => option === value),
  is: `one of ${options.join(', ')}`,
});

type Bounds = Readonly<{ min: number; max: number }>;

export const wholeNumber = (fallback: number, { min, max }: Bounds): FieldRule<number> => ({
  fallback,
  read: (value) => (Number.isInteger(value) && Number(value) >= min && Number(value) <= max ? Number(value) : undefined),
  is: `a whole number from ${min} to ${max}`,
});

export const share = (fallback: number): FieldRule<number> => ({
  fallback,
  read: (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined),
  is: 'a number from 0 to 1',
});

export const textOf = ({ min, max }: Bounds, fallback?: string): FieldRule<string> => ({
  ...(fallback !== undefined && { fallback }),
  read: (value) => (typeof value === 'string' && isBetween(charactersOf(value.trim()), min, max) ? value : undefined),
  is: `a text of ${min} to ${max} characters`,
});

export const orNull = <T>({ read, is }: FieldRule<T>): FieldRule<T | null> => ({
  fallback: null,
  read: (value) => (value === null ? null : read(value)),
  is: `${is}, or null`,
});

type ListBounds = Bounds & Readonly<{ of: string }>;

/** A list in which every entry is valid. */
export const listOf = <T>(
  { min, max, of }: ListBounds,
  entry: (value: unknown) => T | undefined,
  fallback?: readonly T[],
): FieldRule<readonly T[]> => ({
  ...(fallback && { fallback }),
  read: (value) => {
    if (!Array.isArray(value) || !isBetween(value.length, min, max)) return undefined;
    const entries = value.map(entry);
    return entries.every((each) => each !== undefined) ? entries : undefined;
  },
  is: `a list of ${min} to ${max} ${of}`,
});

const isBetween = (count: number, min: number, max: number) => count >= min && count <= max;

/** The number of characters (code points) of a text, not of UTF-16 units. */
export const charactersOf = (text: string): number => text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
