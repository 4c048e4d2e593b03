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

/**
 * Decodes by the byte order mark, else as UTF-8, else with another character set. @throws Rejection
 * `document-unreadable` if there is a NUL
 */
export function decodeText(filename: string, bytes: Uint8Array, other = 'windows-1252'): string {
  const marked = encodingByMark(bytes);
  if (marked) return tidy(new TextDecoder(marked).decode(bytes));
  if (bytes.includes(0)) throw unreadable(filename, 'text');
  try {
    return tidy(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return tidy(new TextDecoder(other).decode(bytes));
  }
}

/** Longer runs of white space are cut to this length. */
export const WHITE_SPACE_MAX = 100;
const TOO_MUCH_WHITE_SPACE = new RegExp(`(\\s{${WHITE_SPACE_MAX}})\\s+`, 'g');

/** Normalizes line ends to `\n`, cuts white space, and removes NUL and lone surrogates, which no database column accepts. */
export const tidy = (text: string): string => storableText(text.replace(/\r\n?/g, '\n')).replace(TOO_MUCH_WHITE_SPACE, '$1');

/** The file's name without folders and extension, the title of a document without another. */
export const titleOf = (filename: string): string => filename.replace(/^.*[/\\]/, '').replace(/\.[^.]+$/, '');

export const parseText = (filename: string, text: string): readonly Section[] => [{ title: titleOf(filename), text }];

/** Collects paragraphs under headings. */
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

  /** Sets the title of the section before the first heading. */
  entitle(title: string): void {
    if (title.trim() !== '') this.sections[0]!.title = title.trim();
  }

  all(): readonly Section[] {
    return this.sections.map(({ title, blocks }) => ({ title, text: blocks.join('\n\n') })).filter(({ text }) => text !== '');
  }
}
