/** Digits that stand together. */
export type DigitGroup = Readonly<{ start: number; digits: string }>;

const GROUPS = /\d+/g;

/** Rows of groups of digits with one of some separators between them. A group that is longer than `digitsMax` stands in no row. */
export function* digitRows(text: string, separators: string, digitsMax: number): Generator<readonly DigitGroup[]> {
  let row: DigitGroup[] = [];
  let end = -1;
  for (const { 0: digits, index: start } of text.matchAll(GROUPS)) {
    const goesOn = start === end + 1 && separators.includes(text[end]!);
    if (!goesOn && row.length > 0) yield row;
    if (!goesOn) row = [];
    end = start + digits.length;
    if (digits.length <= digitsMax) {
      row.push({ start, digits });
      continue;
    }
    if (row.length > 0) yield row;
    row = [];
    end = -1;
  }
  if (row.length > 0) yield row;
}
