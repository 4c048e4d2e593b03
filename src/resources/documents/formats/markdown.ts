import { Lexer, type Token } from 'marked';
import type { Section } from '../document.port.js';
import { headingsIn } from './markdown-headings.js';
import { titleOf } from './plain-text.js';
import { cutText } from '../../../kernel/cut-text.js';

const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;
const QUOTED = /^(["'])(.*)\1$/;

/** A title is cut here, because the parser's time for inline marks grows faster than the length of a heading. */
export const TITLE_CHARACTERS_MAX = 500;

/** Sections by heading, with the text as written. The front matter is left out, but its title is used. */
export function parseMarkdown(filename: string, text: string): readonly Section[] {
  const [frontMatter = '', fields = ''] = FRONT_MATTER.exec(text) ?? [];
  const body = text.slice(frontMatter.length);
  const sections: { title: string; start: number }[] = [{ title: titleIn(fields) || titleOf(filename), start: 0 }];
  for (const { start, text: written } of headingsIn(body))
    sections.push({ title: plain(written) || sections.at(-1)!.title, start });
  return sections
    .map(({ title, start }, index) => ({ title, text: body.slice(start, sections[index + 1]?.start) }))
    .filter((section) => section.text.trim() !== '');
}

/** MDX: Markdown without its module lines. */
export const parseMdx = (filename: string, text: string): readonly Section[] =>
  parseMarkdown(
    filename,
    text.replace(/^(?:import\s.+\sfrom\s.+|import\s+['"].+|export\s+(?:const|default|function|let)\s.*)$/gm, ''),
  );

function titleIn(frontMatter: string): string {
  const line = frontMatter.split('\n').find((each) => each.startsWith('title:')) ?? '';
  const value = line.slice('title:'.length).trim();
  return cutText(QUOTED.exec(value)?.[2] ?? value, TITLE_CHARACTERS_MAX);
}

const plain = (written: string): string =>
  textOf(Lexer.lexInline(written.slice(0, TITLE_CHARACTERS_MAX)))
    .replace(/\s+/g, ' ')
    .trim();

const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token) => ('tokens' in token && token.tokens ? textOf(token.tokens) : 'text' in token ? String(token.text) : ''))
    .join('');
