import { withoutTrailing } from '../../../kernel/trailing.js';

/** A quotable part of a document (a sentence, a list item or a table row) with the heading above it. */
export type Passage = Readonly<{ kind: 'sentence' | 'item' | 'row'; text: string; heading: string; paragraph: number }>;

const TEXT_CHARACTERS_MAX = 20_000;
const PASSAGE_CHARACTERS_MAX = 600;

/** Code blocks are never quoted, even if they contain the terms of the question. */
const FENCED_CODE = /^[ \t]*(```|~~~)[^]*?(^[ \t]*\1|(?![^]))/gmu;

const HEADING = /^ {0,3}#{1,6}(?=[ \t]|$)/u;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/u;
const ITEM = /^[ \t]*(?:[-*+]|\d+[.)])[ \t]+/u;
const TABLE_ROW = /^[ \t]*\|.*\|[ \t]*$/u;
const TABLE_RULE = /^[|:\- \t]+$/u;
const QUOTE_MARKS = /^[ \t]*(?:>[ \t]?)+/u;
/** A row of a spreadsheet is written as pairs of column name and value. */
const NAMED_CELL = /^([^:\n]{1,80}): \S/u;

/** The white space between two sentences. */
const BETWEEN_SENTENCES = /(?<=[.!?。！？][)"'”’]?)\s+(?=[\p{Lu}\p{N}"'“‘(`*_])/u;

/**
 * The quotable passages of a text in reading order. Headings, table heads, code blocks and sentences that only announce what
 * follows ("Try it:") are left out. Lines equal to the document's title are headings too, because texts of web pages and books
 * have no heading marks.
 */
export function passagesOf(text: string, title: string): readonly Passage[] {
  const reader = new PassageReader(title);
  for (const line of text.slice(0, TEXT_CHARACTERS_MAX).replace(FENCED_CODE, '\n\n').split('\n')) reader.read(line);
  return reader.all();
}

class PassageReader {
  private readonly passages: Passage[] = [];
  private readonly titles: ReadonlySet<string>;
  private heading: string;
  private paragraph = 0;
  private kind: 'sentence' | 'item' = 'sentence';
  private lines: string[] = [];
  private rows: string[] = [];

  constructor(title: string) {
    this.titles = new Set([title, ...title.split(' · ')]);
    this.heading = title;
  }

  read(written: string): void {
    const line = written.replace(QUOTE_MARKS, '');
    if (HEADING.test(line)) this.startUnder(line.replace(HEADING, ''));
    else if (TABLE_ROW.test(line)) this.readRow(line);
    else if (this.lines.length === 1 && this.kind === 'sentence' && UNDERLINE.test(line))
      this.startUnder(this.lines.splice(0)[0]!);
    else if (line.trim() === '') this.endBlock();
    else if (ITEM.test(line)) this.startItem(line.replace(ITEM, ''));
    else this.readText(line);
  }

  all(): readonly Passage[] {
    this.endBlock();
    return this.passages;
  }

  private startUnder(heading: string): void {
    this.endBlock();
    this.heading = withoutMarks(heading);
  }

  private startItem(line: string): void {
    this.endBlock();
    this.kind = 'item';
    this.lines.push(line);
  }

  private readText(line: string): void {
    if (this.rows.length > 0) this.endBlock();
    this.lines.push(line);
  }

  private readRow(line: string): void {
    if (this.lines.length > 0) this.endBlock();
    this.rows.push(line);
  }

  private endBlock(): void {
    const { lines, rows, kind } = this;
    [this.lines, this.rows, this.kind] = [[], [], 'sentence'];
    this.paragraph++;
    for (const row of dataRowsOf(rows)) this.add('row', cellsOf(row));
    if (areRowsOfSheet(lines)) for (const line of lines) this.add('row', line);
    else if (kind === 'sentence' && lines.length === 1 && this.titles.has(lines[0]!.trim())) this.heading = lines[0]!.trim();
    else for (const sentence of sentencesOf(lines)) this.add(kind, sentence);
  }

  private add(kind: Passage['kind'], written: string): void {
    const text = written.replace(/\s+/gu, ' ').trim();
    if (!/[\p{L}\p{N}]/u.test(text)) return;
    const isCut = text.length > PASSAGE_CHARACTERS_MAX;
    const { heading, paragraph } = this;
    this.passages.push({
      kind,
      text: isCut ? `${text.slice(0, PASSAGE_CHARACTERS_MAX).toWellFormed()}…` : text,
      heading,
      paragraph,
    });
  }
}

/** The rows below a table's rule. A table without a rule is the rest of a table that chunking split, so all its rows are data. */
function dataRowsOf(rows: readonly string[]): readonly string[] {
  const rule = rows.findIndex((row) => TABLE_RULE.test(row));
  return rows.slice(rule + 1).filter((row) => !TABLE_RULE.test(row));
}

/** Joins the cells of a table row into one line. */
const cellsOf = (row: string): string =>
  row
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/u)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
    .join(' – ');

/** Whether there are several lines and all begin with the same column name. */
function areRowsOfSheet(lines: readonly string[]): boolean {
  const first = lines.length > 1 ? NAMED_CELL.exec(lines[0]!)?.[1] : undefined;
  return first !== undefined && lines.every((line) => line.startsWith(`${first}: `));
}

const sentencesOf = (lines: readonly string[]): readonly string[] =>
  lines
    .join(' ')
    .split(BETWEEN_SENTENCES)
    .filter((sentence) => !sentence.trimEnd().endsWith(':'));

const withoutMarks = (heading: string): string => withoutTrailing(heading.replace(/[*_`]/gu, '').trim(), '# ');
