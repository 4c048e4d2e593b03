import type { TextAllowance } from '../allowance.js';

export type Cell = string | number | boolean | Date | null | undefined;

/**
 * Writes the rows under a header as `name: value, …` lines. A single row, and values beyond the header, are written without
 * names. @throws Rejection `document-too-large`
 */
export function rowsAsText(rows: readonly (readonly Cell[])[], allowance: TextAllowance): string {
  const header = (rows[0] ?? []).map(cellAsText);
  if (rows.length <= 1) return header.filter((cell) => cell !== '').join(', ');
  const lines: string[] = [];
  for (const row of rows.slice(1)) {
    const named: string[] = [];
    for (const [index, value] of row.entries()) {
      const cell = cellAsText(value);
      if (cell === '') continue;
      const name = header[index];
      allowance.spend((name?.length ?? 0) + cell.length);
      named.push(name ? `${name}: ${cell}` : cell);
    }
    if (named.length > 0) lines.push(named.join(', '));
  }
  return lines.join('\n');
}

function cellAsText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return cell.toISOString().replace(/T00:00:00\.000Z$/, '');
  return String(cell).trim();
}
