import { refused } from './notebook.policy.js';

/** The text that an edit removed and the text that it inserted. `at` counts UTF-16 code units. */
export type TextEdit = Readonly<{ at: number; removed: string; inserted: string }>;

export const edited = (text: string, { at, removed, inserted }: TextEdit): string =>
  text.slice(0, at) + inserted + text.slice(at + removed.length);

/** Replaces a text that occurs exactly once. `name` names the file in a refusal. @throws Rejection tool-call-refused */
export function replacement(name: string, text: string, old: string, inserted: string): TextEdit {
  if (old === '') throw refused('`old_str` is empty: say which text is to be replaced.');
  const at = text.indexOf(old);
  if (at < 0) throw refused(`\`old_str\` does not occur in ${name}. It has to match exactly, white space included.`);
  const again = text.indexOf(old, at + 1);
  if (again >= 0) {
    const lines = [at, again].map((index) => text.slice(0, index).split('\n').length).join(' and ');
    throw refused(`\`old_str\` occurs more than once in ${name}, first in lines ${lines}: give more of the text around it.`);
  }
  return { at, removed: old, inserted };
}

/** Inserts whole lines after a line; 0 is before the first. @throws Rejection tool-call-refused */
export function insertion(name: string, text: string, line: number, lines: string): TextEdit {
  const starts = lineStarts(text);
  const count = starts.length;
  if (!Number.isInteger(line) || line < 0 || line > count) {
    throw refused(
      `\`insert_line\` must be a whole number from 0 to ${count}: ${name} has ${count} ${count === 1 ? 'line' : 'lines'}.`,
    );
  }
  if (line < count) return { at: starts[line]!, removed: '', inserted: lines.endsWith('\n') ? lines : `${lines}\n` };
  return { at: text.length, removed: '', inserted: text === '' || text.endsWith('\n') ? lines : `\n${lines}` };
}

/** Deletes lines from the first to the last, counted from 1. @throws Rejection tool-call-refused */
export function deletion(name: string, text: string, first: number, last: number): TextEdit {
  const starts = lineStarts(text);
  const isRange = Number.isInteger(first) && Number.isInteger(last) && first >= 1 && last >= first && last <= starts.length;
  if (!isRange) throw refused(`${name} has ${starts.length} lines: name a first and a last one of them.`);
  const at = starts[first - 1]!;
  return { at, removed: text.slice(at, starts[last] ?? text.length), inserted: '' };
}

/**
 * Lines with their numbers, counted from 1. A last line of -1 is the end of the text. An empty text has no lines, whatever the
 * range. @throws Rejection tool-call-refused
 */
export function numberedLines(name: string, text: string, range?: readonly [number, number]): string {
  if (text === '') return '';
  const lines = text.replace(/\n$/, '').split('\n');
  const first = range?.[0] ?? 1;
  const last = range === undefined || range[1] === -1 ? lines.length : range[1];
  if (range !== undefined && !(first >= 1 && last >= first && first <= lines.length)) {
    throw refused(`${name} has ${lines.length} lines: \`view_range\` must be [first, last] among them, or [first, -1].`);
  }
  return lines
    .slice(first - 1, last)
    .map((line, index) => `${first + index}: ${line}`)
    .join('\n');
}

export const bytesOf = (text: string): number => Buffer.byteLength(text);

/** The offset of each line. The end of the text after a final line break is not a line. */
function lineStarts(text: string): readonly number[] {
  if (text === '') return [];
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
