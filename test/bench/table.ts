/** An aligned table. The first and the last column are left-aligned, the others right-aligned. */
export function table(rows: readonly (readonly string[])[], head: readonly string[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        column === 0 || column === cells.length - 1 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '─'.repeat(width)).join('──'), ...rows.map(line)]
    .map((each) => `  ${each}`)
    .join('\n');
}
