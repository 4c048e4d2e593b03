import { parse } from 'csv-parse/sync';
import type { Section } from '../document.port.js';
import { TextAllowance } from '../allowance.js';
import type { ParsingLimits } from '../limits.js';
import { titleOf } from './plain-text.js';
import { unreadable } from '../refusals.js';
import { rowsAsText } from './rows.js';

const DELIMITERS = [',', ';', '\t', '|'];

/** One section. Every row repeats the names of its columns, so that a chunk from the middle is still understandable. */
export function parseCsv(filename: string, text: string, limits: ParsingLimits): readonly Section[] {
  const firstLine = text.slice(0, text.search(/\n|$/));
  const delimiter = DELIMITERS.reduce((best, each) =>
    firstLine.split(each).length > firstLine.split(best).length ? each : best,
  );
  const allowance = new TextAllowance(filename, limits, text.length);
  return [{ title: titleOf(filename), text: rowsAsText(rowsOf(filename, text, delimiter), allowance) }];
}

function rowsOf(filename: string, text: string, delimiter: string): readonly string[][] {
  try {
    return parse(text, { delimiter, relax_column_count: true, skip_empty_lines: true, relax_quotes: true });
  } catch {
    throw unreadable(filename, 'CSV');
  }
}
