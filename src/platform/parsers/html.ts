import { Parser } from 'htmlparser2';
import type { Section } from '../../sources/document.port.js';
import { SectionsUnderHeadings, titleOf } from './plain-text.js';

/** What is on a page but is not what the page says. */
const LEFT_OUT = new Set([
  'script',
  'style',
  'nav',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'footer',
  'aside',
  'form',
]);
const BLOCKS = new Set(
  'address article blockquote body dd details div dl dt fieldset figcaption figure header hr li main ol p pre section summary table tbody thead tr ul'.split(
    ' ',
  ),
);
const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
const CELLS = new Set(['td', 'th']);

/** Sections by heading. The page is read as a stream of tags: no tree is built, so nesting costs nothing. */
export function parseHtml(filename: string, html: string, title = titleOf(filename)): readonly Section[] {
  const reader = new PageReader(title);
  const parser = new Parser(
    { onopentagname: (name) => reader.open(name), ontext: (text) => reader.text(text), onclosetag: (name) => reader.close(name) },
    { decodeEntities: true },
  );
  parser.write(html);
  parser.end();
  return reader.sections();
}

class PageReader {
  private readonly gathered: SectionsUnderHeadings;
  private leftOut: { name: string; depth: number } | undefined;
  private preformatted = 0;
  private inTitle = false;
  private line = '';

  constructor(title: string) {
    this.gathered = new SectionsUnderHeadings(title);
  }

  open(name: string): void {
    if (this.leftOut) {
      if (this.leftOut.name === name) this.leftOut.depth++;
      return;
    }
    if (LEFT_OUT.has(name)) this.leftOut = { name, depth: 1 };
    else if (name === 'title') this.inTitle = true;
    else if (HEADINGS.has(name)) this.endBlock();
    else if (name === 'pre') {
      this.endBlock();
      this.preformatted++;
    } else if (name === 'br') this.line += '\n';
    else if (CELLS.has(name) && this.line.trim() !== '') this.line += ' | ';
    else if (name === 'li') this.startItem();
    else if (BLOCKS.has(name)) this.endBlock();
  }

  text(text: string): void {
    if (this.leftOut) return;
    this.line += this.preformatted > 0 ? text : text.replace(/\s+/g, this.line.endsWith('\n') ? '' : ' ');
  }

  close(name: string): void {
    if (this.leftOut) {
      if (this.leftOut.name === name && --this.leftOut.depth === 0) this.leftOut = undefined;
      return;
    }
    if (name === 'title' && this.inTitle) {
      this.gathered.entitle(this.take());
      this.inTitle = false;
    } else if (HEADINGS.has(name)) this.gathered.heading(this.take());
    else if (name === 'pre') {
      this.endBlock();
      this.preformatted = Math.max(0, this.preformatted - 1);
    } else if (BLOCKS.has(name)) this.endBlock();
  }

  sections(): readonly Section[] {
    this.endBlock();
    return this.gathered.all();
  }

  private startItem(): void {
    this.endBlock();
    this.line = '- ';
  }

  private endBlock(): void {
    const block = this.take();
    if (block.trim() !== '-') this.gathered.block(block);
  }

  private take(): string {
    const taken = this.preformatted > 0 ? this.line : this.line.replace(/[^\S\n]+/g, ' ').trim();
    this.line = '';
    return taken;
  }
}
