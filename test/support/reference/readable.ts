const LINE_CHARACTERS_MAX = 120;

/** JSON that is easy to read and compare: a value that fits on one line stays on one line. */
export const readable = (value: unknown): string => `${lines(value, '')}\n`;

function lines(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= LINE_CHARACTERS_MAX) return line;
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((each) => `${inner}${lines(each, inner)}`)
    : Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .map(([name, each]) => `${inner}${JSON.stringify(name)}: ${lines(each, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}
