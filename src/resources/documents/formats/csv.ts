import { parse } from 'csv-parse/sync';
import type { Section } from '../document.port.js';
import { TextAllowance } from '../allowance.js';
import type { ParsingLimits } from '../limits.js';
import { titleOf } from './plain-text.js';
import { unreadable } from '../refusals.js';
import { rowsAsText } from './rows.js';

const DELIMITERS = [',', ';', '\t', '|'];
/** The line by which Excel names the delimiter. */
const DELIMITER_LINE = /^sep=([,;\t|])\n/i;
const QUOTED = /"[^"]*"/g;

/** One section. Every row repeats the names of its columns, so that a chunk from the middle is still understandable. */
export function parseCsv(filename: string, text: string, limits: ParsingLimits): readonly Section[] {
  const [line = '', named] = DELIMITER_LINE.exec(text) ?? [];
  const rows = text.slice(line.length);
  const delimiter = named ?? delimiterOf(rows.slice(0, rows.search(/\n|$/)));
  const allowance = new TextAllowance(filename, limits, text.length);
  return [{ title: titleOf(filename), text: rowsAsText(rowsOf(filename, rows, delimiter), allowance) }];
}

function delimiterOf(header: string): string {
  const names = header.replaceAll(QUOTED, '');
  return DELIMITERS.reduce((best, each) => (names.split(each).length > names.split(best).length ? each : best));
}

function rowsOf(filename: string, text: string, delimiter: string): readonly string[][] {
  try {
    return parse(text, { delimiter, relax_column_count: true, skip_empty_lines: true, relax_quotes: true });
  } catch {
    throw unreadable(filename, 'CSV');
  }
}
