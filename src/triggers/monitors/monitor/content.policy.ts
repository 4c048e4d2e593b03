import { createHash } from 'node:crypto';
import { parseExactJson } from '../../../resources/exact-json.policy.js';

/** The content of a source at one check. */
export type Content = Readonly<{
  text: string;
  /** Undefined if the text is not a JSON object or array. */
  json?: unknown;
  /** Distinguishes two states of the source that have the same text. */
  key?: string;
}>;

/** The content does not fit the check. The message is shown to people and models. */
export class Unfit extends Error {
  override readonly name = 'Unfit';
}

export const CONTENT_CHARACTERS_MAX = 256 * 1024;

/**
 * JSON with sorted keys, because the order in which a server writes keys has no meaning. Only its first characters are written if
 * there are more than `charactersMax`, with up to one value more.
 */
export function canonical(value: unknown, charactersMax = Infinity): string {
  let text = '';
  const isFull = () => text.length >= charactersMax;
  const write = (each: unknown): void => {
    if (typeof each !== 'object' || each === null || each instanceof Date) text += JSON.stringify(each) ?? 'null';
    else if (Array.isArray(each)) {
      text += '[';
      for (let at = 0; at < each.length && !isFull(); at++) {
        if (at > 0) text += ',';
        write(each[at]);
      }
      text += ']';
    } else writeFields(each as Readonly<Record<string, unknown>>);
  };
  const writeFields = (fields: Readonly<Record<string, unknown>>): void => {
    let separator = '{';
    // An object moves names that are numbers to the front, in their order.
    const names = Object.fromEntries(Object.keys(fields).sort().map((name) => [name, true])); // oxfmt-ignore
    for (const name of Object.keys(names)) {
      if (isFull()) break;
      if (fields[name] === undefined) continue;
      text += `${separator}${JSON.stringify(name)}:`;
      separator = ',';
      write(fields[name]);
    }
    text += separator === '{' ? '{}' : '}';
  };
  write(value);
  return text;
}

export const contentOfText = (text: string): Content => {
  const whole = text.slice(0, CONTENT_CHARACTERS_MAX);
  const json = /^\s*[[{]/.test(whole) ? parsed(whole) : undefined;
  return json === undefined ? { text: whole } : contentOfJson(json);
};

export const contentOfJson = (json: unknown): Content =>
  typeof json === 'string'
    ? contentOfText(json)
    : { text: canonical(json, CONTENT_CHARACTERS_MAX).slice(0, CONTENT_CHARACTERS_MAX), json };

function parsed(text: string): unknown {
  try {
    // Beyond the limits the content is only a text.
    return parseExactJson(text, 'The content');
  } catch {
    return undefined;
  }
}

export const PATH_CHARACTERS_MAX = 200;

const STEP = /[^.[\]]+/g;
const PATH = /^[^.[\]]+(\[\d+\])*(\.[^.[\]]+(\[\d+\])*)*$|^(\[\d+\])+(\.[^.[\]]+(\[\d+\])*)*$/;

/** Whether a text is a path such as `data.items[0].price`. */
export const isPath = (text: string): boolean => text.length <= PATH_CHARACTERS_MAX && PATH.test(text);

/** The value at a path; undefined if there is none. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const [step] of path.matchAll(STEP)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

const NUMBER = /-?\d[\d,]*(?:\.\d+)?/;

/** The first number in a value, with or without commas between thousands. @throws Unfit */
export function numberIn(value: unknown): number {
  const found = typeof value === 'number' ? String(value) : typeof value === 'string' ? NUMBER.exec(value)?.[0] : undefined;
  const number = found === undefined ? Number.NaN : Number(found.replaceAll(',', ''));
  if (!Number.isFinite(number)) throw new Unfit('There is no number where the check looks for one.');
  return number;
}

const GIST_CHARACTERS_MAX = 200;

/** The beginning of a text on one line. */
export function gistOf(text: string, charactersMax = GIST_CHARACTERS_MAX): string {
  // Reads at most four times the needed characters, even if most of them are white space.
  const line = text
    .slice(0, charactersMax * 4)
    .replace(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1).toWellFormed()}…`;
}

const digest = (text: string, characters: number): string => createHash('sha256').update(text).digest('hex').slice(0, characters);

export const hashOf = (text: string): string => digest(text, 32);
/** 48 bits: the probability that two of 500 items have the same hash is below one in a billion. */
export const itemHash = (text: string): string => digest(text, 12);
