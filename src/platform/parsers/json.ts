import type { Section } from '../../sources/document.port.js';
import { titleOf } from './plain-text.js';
import { unreadable } from './refusals.js';

/** Deeper than this a value is written as JSON on one line. */
const PATH_DEPTH_MAX = 12;

/** `path: value` lines; every element of a list of records is a paragraph of its own, every field of the root a section. */
export function parseJson(filename: string, text: string): readonly Section[] {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    throw unreadable(filename, 'JSON');
  }
  const title = titleOf(filename);
  if (!isRecord(root)) return [{ title, text: paragraphs(root) }];
  const nested = Object.entries(root).filter(([, value]) => isNested(value));
  const flat = Object.entries(root).filter(([, value]) => !isNested(value));
  return [
    { title, text: lines(Object.fromEntries(flat), '', 0).join('\n') },
    ...nested.map(([name, value]) => ({ title: name, text: `${name}\n\n${paragraphs(value)}` })),
  ].filter((section) => section.text.trim() !== '');
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isRecord = (value: unknown): value is Record<string, unknown> => isNested(value) && !Array.isArray(value);

const paragraphs = (value: unknown): string =>
  Array.isArray(value) ? value.map((each) => lines(each, '', 0).join('\n')).join('\n\n') : lines(value, '', 0).join('\n');

function lines(value: unknown, path: string, depth: number): readonly string[] {
  if (isNested(value) && depth < PATH_DEPTH_MAX) {
    return Object.entries(value).flatMap(([key, each]) => lines(each, path === '' ? key : `${path}.${key}`, depth + 1));
  }
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  return [path === '' ? written : `${path}: ${written}`];
}
