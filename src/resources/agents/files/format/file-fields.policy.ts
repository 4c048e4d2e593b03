import { isNameable } from '../../../../kernel/nameable.js';
import { Rejection } from '../../../../kernel/rejection.js';
import { TITLE_CHARACTERS_MAX } from '../../agent.policy.js';
import { isJsonObject, type JsonObject } from '../../../json-object.policy.js';
import { cutText } from '../../../../kernel/cut-text.js';

const SHOWN_CHARACTERS_MAX = 100;

export const fileRefused = (text: string) => new Rejection('invalid-request', text);

/** A value as a rejection shows it. */
export const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return `'${cutText(text, SHOWN_CHARACTERS_MAX)}'`;
};

/** Reads the fields of one mapping, checks their types, and records the keys that nothing has read. */
export class Fields {
  private readonly asked = new Set<string>();

  constructor(
    private readonly value: JsonObject,
    readonly path: string,
    private readonly unknown: string[],
  ) {}

  /** The value of a key. Null has the same effect as leaving the key out. */
  raw(key: string): unknown {
    this.asked.add(key);
    return Object.hasOwn(this.value, key) ? (this.value[key] ?? undefined) : undefined;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.value, key);
  }

  /** A text by which something is found, as in the bodies of other routes. */
  name(key: string, max = TITLE_CHARACTERS_MAX): string {
    const name = this.text(key, max);
    if (!isNameable(name)) throw this.wrong(key, 'must not hold NUL or half of a surrogate pair');
    return name;
  }

  text(key: string, max = TITLE_CHARACTERS_MAX): string {
    const value = this.raw(key);
    if (value === undefined) return '';
    // YAML reads an unquoted name such as 42 as a number.
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (typeof text !== 'string') throw this.wrong(key, 'must be text');
    if (text.length > max) throw this.wrong(key, `must have at most ${max} characters`);
    return text;
  }

  flag(key: string): boolean | undefined {
    const value = this.raw(key);
    if (value !== undefined && typeof value !== 'boolean') throw this.wrong(key, 'must be true or false');
    return value;
  }

  whole(key: string): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.wrong(key, 'must be a whole number of at least 0');
    return value as number;
  }

  number(key: string): number {
    const value = this.raw(key) ?? 0;
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.wrong(key, 'must be a number');
    return value;
  }

  record(key: string): JsonObject {
    const value = this.raw(key) ?? {};
    if (!isJsonObject(value)) throw this.wrong(key, 'must be a mapping');
    refuseUnsayable(value, `${this.path}.${key}`);
    return value;
  }

  list(key: string): readonly unknown[] {
    const value = this.raw(key) ?? [];
    if (!Array.isArray(value)) throw this.wrong(key, 'must be a list');
    return value;
  }

  inner(key: string): Fields {
    return new Fields(this.record(key), `${this.path}.${key}`, this.unknown);
  }

  records(key: string): readonly Fields[] {
    return this.list(key).map((each, index) => {
      if (!isJsonObject(each)) throw this.wrong(`${key}[${index}]`, 'must be a mapping');
      return this.entry(each, `${key}[${index}]`);
    });
  }

  /** The reader of a mapping that is nested in this one at `place`. */
  entry(value: JsonObject, place: string): Fields {
    return new Fields(value, `${this.path}.${place}`, this.unknown);
  }

  /** Records the unknown keys. Call it after all known keys have been read. */
  end(): void {
    for (const key of Object.keys(this.value)) {
      if (!this.asked.has(key) && this.value[key] !== null)
        this.unknown.push(`${this.path === '' ? '' : `${this.path}.`}${cutText(key, SHOWN_CHARACTERS_MAX)}`);
    }
  }

  wrong(key: string, problem: string): Rejection {
    return fileRefused(`${this.path === '' ? '' : `${this.path}.`}${key} ${problem}`);
  }
}

/** Refuses numbers that JSON cannot represent, and the key `__proto__`. */
export function refuseUnsayable(value: unknown, path: string): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw fileRefused(`${path} contains a number that JSON cannot represent`);
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) throw fileRefused(`${path} holds a key that is not allowed: __proto__`);
  for (const each of Object.values(value)) refuseUnsayable(each, path);
}
