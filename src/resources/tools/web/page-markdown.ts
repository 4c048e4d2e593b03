import { readTags } from '../../../platform/outgoing/read-tags.policy.js';
import { cutText } from '../../../kernel/cut-text.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Elements whose text is not part of the content of a page. */
const LEFT_OUT = words('script style noscript template svg iframe object nav footer aside button select dialog');
const BLOCKS = words(
  'address article blockquote body dd details div dl dt fieldset figcaption figure form header hr main ol p section summary table tbody thead tr ul',
);
const HEADINGS = words('h1 h2 h3 h4 h5 h6');
const LISTS = words('ul ol');

/** The maximum length of a page's text. Further text would exceed the limits of models anyway. */
export const PAGE_CHARACTERS_MAX = 200_000;

export type PageText = Readonly<{ title: string; text: string; isCut: boolean }>;

/** Converts a page to Markdown. It reads the tags as a stream and builds no tree. */
export async function pageAsMarkdown(html: string, address: string): Promise<PageText> {
  const writer = new PageWriter(address);
  const isWhole = await readTags(
    html,
    {
      onopentag: (name, attributes) => writer.open(name, attributes),
      ontext: (text) => writer.text(text),
      onclosetag: (name) => writer.close(name),
    },
    { hasEnough: () => writer.isFull },
  );
  return writer.page(isWhole);
}

/** Writes Markdown. It only appends to texts and never searches in them, so that the time is linear in the size of any page. */
class PageWriter {
  private readonly blocks: string[] = [];
  private readonly links: { href: string; words: string }[] = [];
  private title = '';
  private line = '';
  private saysSomething = false;
  private characters = 0;
  private prefix = '';
  private leftOut: { name: string; depth: number } | undefined;
  private lists = 0;
  private preformatted = 0;
  private inTitle = false;

  constructor(private readonly address: string) {}

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.leftOut) {
      if (this.leftOut.name === name) this.leftOut.depth++;
    } else if (LEFT_OUT.has(name)) this.leftOut = { name, depth: 1 };
    else if (name === 'title') this.inTitle = true;
    else if (HEADINGS.has(name)) this.begin(`${'#'.repeat(Number(name[1]))} `);
    else if (name === 'pre') {
      this.begin('');
      this.preformatted++;
    } else if (name === 'li') this.begin(`${'  '.repeat(Math.min(Math.max(0, this.lists - 1), INDENTS_MAX))}- `);
    else if (name === 'br') this.write('\n');
    else if (CELLS.has(name)) this.write(this.saysSomething ? ' | ' : '');
    else if (name === 'a') {
      this.endLinks();
      this.links.push({ href: attributes['href'] ?? '', words: '' });
    } else if (name === 'img') this.write(attributes['alt'] ? `[${attributes['alt'].trim()}]` : '');
    else if (name === 'code' && this.preformatted === 0) this.write('`');
    else if (BLOCKS.has(name)) {
      this.begin(name === 'blockquote' ? '> ' : '');
      if (LISTS.has(name)) this.lists++;
    }
  }

  text(text: string): void {
    if (this.leftOut) return;
    if (!this.inTitle) this.write(this.preformatted > 0 ? text : text.replace(/\s+/g, ' '));
    else if (this.title.length < TITLE_CHARACTERS_MAX) this.title += cutText(text, TITLE_CHARACTERS_MAX);
  }

  close(name: string): void {
    if (this.leftOut) {
      if (this.leftOut.name === name && --this.leftOut.depth === 0) this.leftOut = undefined;
    } else if (name === 'title') this.inTitle = false;
    else if (name === 'a') this.endLinks();
    else if (name === 'code' && this.preformatted === 0) this.write('`');
    else if (name === 'pre') {
      this.end();
      this.preformatted = Math.max(0, this.preformatted - 1);
    } else if (HEADINGS.has(name) || name === 'li' || BLOCKS.has(name)) {
      this.end();
      if (PREFIXED.test(name)) this.prefix = '';
      if (LISTS.has(name)) this.lists = Math.max(0, this.lists - 1);
    }
  }

  get isFull(): boolean {
    return this.characters > PAGE_CHARACTERS_MAX;
  }

  page(isWhole: boolean): PageText {
    this.end();
    const text = this.blocks.join('').trim();
    const title = this.title.replace(/\s+/g, ' ').trim();
    return { title, text: cutText(text, PAGE_CHARACTERS_MAX), isCut: !isWhole || text.length > PAGE_CHARACTERS_MAX };
  }

  private write(text: string): void {
    if (text === '' || this.isFull) return;
    this.characters += text.length;
    this.saysSomething ||= text.trim() !== '';
    const link = this.links.at(-1);
    if (link) link.words += text;
    else this.line += text;
  }

  private begin(prefix: string): void {
    this.end();
    // Blocks inside a list item or a quotation keep its prefix.
    if (prefix !== '') this.prefix = prefix;
  }

  private end(): void {
    this.endLinks();
    const { line, prefix } = this;
    this.line = '';
    this.saysSomething = false;
    if (line.trim() === '') return;
    this.prefix = '';
    if (this.preformatted > 0) this.blocks.push(`\n\n\`\`\`\n${line.replace(/^\n/, '').trimEnd()}\n\`\`\``);
    else this.blocks.push(`${prefix.endsWith('- ') ? '\n' : '\n\n'}${prefix}${tidied(line)}`);
  }

  /** Writes the open link. It keeps the address if the link has a text and leads to another page. */
  private endLinks(): void {
    for (let link = this.links.pop(); link; link = this.links.pop()) {
      const words = link.words.trim();
      const target =
        words === '' || this.preformatted > 0 || link.href.startsWith('#') ? null : URL.parse(link.href, this.address);
      const isWeb = target !== null && /^https?:$/.test(target.protocol);
      this.characters -= link.words.length;
      this.write(isWeb ? `${/^\s*/.exec(link.words)![0]}[${words}](${target.href})` : link.words);
    }
  }
}

const CELLS = words('td th');
const PREFIXED = /^(h[1-6]|li|blockquote)$/;
const INDENTS_MAX = 10;
const TITLE_CHARACTERS_MAX = 1000;

const tidied = (line: string): string =>
  line
    .split('\n')
    .map((each) => each.replace(/[^\S\n]+/g, ' ').trim())
    .join('\n')
    .trim();
