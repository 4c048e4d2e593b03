import { exactJson } from '../../exact-json.policy.js';
import type { Section } from '../document.port.js';
import { TextAllowance } from '../allowance.js';
import type { ParsingLimits } from '../limits.js';
import { titleOf } from './plain-text.js';
import { tooDeep, unreadable } from '../refusals.js';

/** A value nested deeper is written as JSON on one line. */
const PATH_DEPTH_MAX = 12;

/** Writes `path: value` lines. Each element of a list is a paragraph, and each nested field of the root is a section. */
export function parseJson(filename: string, text: string, limits: ParsingLimits): readonly Section[] {
  if (depthOf(text) > limits.depthMax) throw tooDeep(filename, limits.depthMax);
  const root = valueIn(filename, text);
  const title = titleOf(filename);
  const writer = new PathWriter(new TextAllowance(filename, limits, text.length));
  if (!isRecord(root)) return [{ title, text: writer.paragraphs(root) }];
  const nested = Object.entries(root).filter(([, value]) => isNested(value));
  const flat = Object.entries(root).filter(([, value]) => !isNested(value));
  return [
    { title, text: writer.lines(Object.fromEntries(flat)) },
    ...nested.map(([name, value]) => ({ title: name, text: `${name}\n\n${writer.paragraphs(value)}` })),
  ].filter((section) => section.text.trim() !== '');
}

function valueIn(filename: string, text: string): unknown {
  try {
    return exactJson(text);
  } catch {
    throw unreadable(filename, 'JSON');
  }
}

const isNested = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isRecord = (value: unknown): value is Record<string, unknown> => isNested(value) && !Array.isArray(value);

/** The nesting depth of lists and records, found without parsing, which is recursive and could overflow the stack. */
function depthOf(json: string): number {
  let [depth, deepest] = [0, 0];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') at = endOfString(json, at);
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth--;
  }
  return deepest;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}

class PathWriter {
  constructor(private readonly allowance: TextAllowance) {}

  paragraphs(value: unknown): string {
    return Array.isArray(value) ? value.map((each) => this.lines(each)).join('\n\n') : this.lines(value);
  }

  lines(value: unknown): string {
    const lines: string[] = [];
    this.write(value, '', 0, lines);
    return lines.join('\n');
  }

  private write(value: unknown, path: string, depth: number, lines: string[]): void {
    if (isNested(value) && depth < PATH_DEPTH_MAX) {
      for (const [key, each] of Object.entries(value)) this.write(each, path === '' ? key : `${path}.${key}`, depth + 1, lines);
      return;
    }
    const written = typeof value === 'string' ? value : JSON.stringify(value);
    this.allowance.spend(path.length + written.length);
    lines.push(path === '' ? written : `${path}: ${written}`);
  }
}
