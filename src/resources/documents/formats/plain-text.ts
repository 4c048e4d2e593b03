import type { Section } from '../document.port.js';
import { storableText } from '../storable-text.policy.js';
import { unreadable } from '../refusals.js';

const BYTE_ORDER_MARKS: readonly (readonly [encoding: string, ...bytes: number[]])[] = [
  ['utf-8', 0xef, 0xbb, 0xbf],
  ['utf-16le', 0xff, 0xfe],
  ['utf-16be', 0xfe, 0xff],
];

const encodingByMark = (bytes: Uint8Array): string | undefined =>
  BYTE_ORDER_MARKS.find(([, ...mark]) => mark.every((byte, index) => bytes[index] === byte))?.[0];

export const hasByteOrderMark = (bytes: Uint8Array): boolean => encodingByMark(bytes) !== undefined;

/** Text by its byte order mark, else UTF-8, else Windows-1252; bytes with NUL among them are no text. */
export function decodeText(filename: string, bytes: Uint8Array): string {
  const marked = encodingByMark(bytes);
  if (marked) return tidy(new TextDecoder(marked).decode(bytes));
  if (bytes.includes(0)) throw unreadable(filename, 'text');
  try {
    return tidy(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return tidy(new TextDecoder('windows-1252').decode(bytes));
  }
}

/** Of more white space than this in a row the rest says nothing. */
export const WHITE_SPACE_MAX = 100;
const TOO_MUCH_WHITE_SPACE = new RegExp(`(\\s{${WHITE_SPACE_MAX}})\\s+`, 'g');

/** Line ends become `\n`; NUL and half characters, which no database column takes, go. */
export const tidy = (text: string): string => storableText(text.replace(/\r\n?/g, '\n')).replace(TOO_MUCH_WHITE_SPACE, '$1');

/** The file's name without folders and ending: the title of what has no other. */
export const titleOf = (filename: string): string => filename.replace(/^.*[/\\]/, '').replace(/\.[^.]+$/, '');

export const parseText = (filename: string, text: string): readonly Section[] => [{ title: titleOf(filename), text }];

/** Gathers paragraphs under headings. */
export class SectionsUnderHeadings {
  private readonly sections: { title: string; blocks: string[] }[];

  constructor(title: string) {
    this.sections = [{ title, blocks: [] }];
  }

  heading(title: string): void {
    const name = title.replace(/\s+/g, ' ').trim();
    if (name !== '') this.sections.push({ title: name, blocks: [name] });
  }

  block(text: string): void {
    if (text.trim() !== '') this.sections.at(-1)!.blocks.push(text.trimEnd());
  }

  /** A document's own title stands in for what comes before its first heading. */
  entitle(title: string): void {
    if (title.trim() !== '') this.sections[0]!.title = title.trim();
  }

  all(): readonly Section[] {
    return this.sections.map(({ title, blocks }) => ({ title, text: blocks.join('\n\n') })).filter(({ text }) => text !== '');
  }
}
