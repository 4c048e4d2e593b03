import { lexer, type Token } from 'marked';
import type { Section } from '../../sources/document.port.js';
import { titleOf } from './plain-text.js';

const FRONT_MATTER = /^---\n([\s\S]*?)\n---\n/;

/** Sections by heading, the text kept as written; the front matter gives no text but may give the title. */
export function parseMarkdown(filename: string, text: string): readonly Section[] {
  const frontMatter = FRONT_MATTER.exec(text);
  const title = /^title:\s*["']?(.+?)["']?\s*$/m.exec(frontMatter?.[1] ?? '')?.[1] ?? titleOf(filename);
  const sections: { title: string; text: string }[] = [{ title, text: '' }];
  for (const token of lexer(text.slice(frontMatter?.[0].length ?? 0))) {
    if (token.type === 'heading') sections.push({ title: plain(token.tokens ?? []) || sections.at(-1)!.title, text: '' });
    sections.at(-1)!.text += token.raw;
  }
  return sections.filter((section) => section.text.trim() !== '');
}

/** MDX: Markdown without its module lines. */
export const parseMdx = (filename: string, text: string): readonly Section[] =>
  parseMarkdown(
    filename,
    text.replace(/^(?:import\s.+\sfrom\s.+|import\s+['"].+|export\s+(?:const|default|function|let)\s.*)$/gm, ''),
  );

function plain(tokens: readonly Token[]): string {
  const words = tokens.map((token) =>
    'tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? String(token.text) : '',
  );
  return words.join('').replace(/\s+/g, ' ').trim();
}
