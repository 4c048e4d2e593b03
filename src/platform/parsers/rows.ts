export type Cell = string | number | boolean | Date | null | undefined;

/** Rows under a header as `name: value, …` lines; a lone row, or one wider than its header, keeps its bare values. */
export function rowsAsText(rows: readonly (readonly Cell[])[]): string {
  const [header, ...body] = rows.map((row) => row.map(cellAsText));
  if (!header) return '';
  if (body.length === 0) return header.filter((cell) => cell !== '').join(', ');
  return body
    .map((row) => row.map((cell, index) => (cell === '' ? '' : header[index] ? `${header[index]}: ${cell}` : cell)))
    .map((row) => row.filter((cell) => cell !== '').join(', '))
    .filter((line) => line !== '')
    .join('\n');
}

function cellAsText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return cell.toISOString().replace(/T00:00:00\.000Z$/, '');
  return String(cell).trim();
}
