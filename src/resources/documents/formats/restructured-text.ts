import type { Section } from '../document.port.js';
import { titleOf } from './plain-text.js';

const ADORNMENT = /^([!-/:-@[-`{-~])\1{2,}\s*$/;

/** Sections by underlined (and overlined) headings. The rest of the text is kept as written. */
export function parseRestructuredText(filename: string, text: string): readonly Section[] {
  const sections: { title: string; lines: string[] }[] = [{ title: titleOf(filename), lines: [] }];
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const heading = headingAt(lines, index);
    if (heading) {
      if (isOverline(lines, index)) sections.at(-1)!.lines.pop();
      sections.push({ title: heading, lines: [heading] });
      index++;
    } else sections.at(-1)!.lines.push(lines[index]!);
  }
  return sections
    .map(({ title, lines: kept }) => ({ title, text: kept.join('\n') }))
    .filter((section) => section.text.trim() !== '');
}

function headingAt(lines: readonly string[], index: number): string | undefined {
  const [title, under] = [lines[index]!.trim(), lines[index + 1] ?? ''];
  const isHeading = title !== '' && !ADORNMENT.test(title) && ADORNMENT.test(under) && under.trim().length >= charactersIn(title);
  return isHeading ? title : undefined;
}

/** The number of characters, with a surrogate pair counted as one. */
const charactersIn = (text: string): number => text.length - (text.match(/[\ud800-\udbff]/g)?.length ?? 0);

const isOverline = (lines: readonly string[], index: number): boolean =>
  index > 0 && ADORNMENT.test(lines[index - 1]!) && lines[index - 1]!.trim() === lines[index + 1]!.trim();
