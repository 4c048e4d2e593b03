import type { Section } from '../document.port.js';
import { readHtml } from './html-tags.js';
import { SectionsUnderHeadings, titleOf } from './plain-text.js';

/** Elements that do not belong to the text of a page. */
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

/** Sections by heading. The page is read as a stream of tags. No tree is built. */
export function parseHtml(filename: string, html: string, title = titleOf(filename)): readonly Section[] {
  const reader = new PageReader(title);
  readHtml(html, {
    onOpen: (name) => reader.open(name),
    onText: (text) => reader.text(text),
    onClose: (name) => reader.close(name),
  });
  return reader.sections();
}

class PageReader {
  private readonly gathered: SectionsUnderHeadings;
  private leftOut: { name: string; depth: number } | undefined;
  private preformatted = 0;
  private inTitle = false;
  /** Built by appending and read only once, because each read of a growing string copies all of it. */
  private line = '';
  private hasText = false;
  private isAfterBreak = false;

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
    } else if (name === 'br') this.add('\n');
    else if (CELLS.has(name) && this.hasText) this.add(' | ');
    else if (name === 'li') this.startItem();
    else if (BLOCKS.has(name)) this.endBlock();
  }

  text(text: string): void {
    if (this.leftOut) return;
    if (this.preformatted > 0) this.add(text);
    else this.add((this.isAfterBreak ? text.trimStart() : text).replace(/\s+/g, ' '));
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
    this.add('- ');
  }

  private add(text: string): void {
    if (text === '') return;
    this.line += text;
    this.isAfterBreak = text.endsWith('\n');
    this.hasText ||= text.trim() !== '';
  }

  private endBlock(): void {
    const block = this.take();
    if (block.trim() !== '-') this.gathered.block(block);
  }

  private take(): string {
    const taken = this.preformatted > 0 ? this.line : this.line.replace(/[^\S\n]+/g, ' ').trim();
    this.line = '';
    this.hasText = false;
    this.isAfterBreak = false;
    return taken;
  }
}
