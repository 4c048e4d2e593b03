/** A run of consecutive digits. */
export type DigitGroup = Readonly<{ start: number; digits: string }>;

const GROUPS = /\d+/g;

/**
 * Rows of digit groups with exactly one separator between neighbours. A group longer than `digitsMax` ends a row and belongs to
 * none.
 */
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
