/** A heading of the document itself: where it begins, and its words as they are written. */
export type MarkdownHeading = Readonly<{ start: number; text: string }>;

type Line = Readonly<{ start: number; indent: number; text: string }>;

/** Deeper than this a line is code, unless it goes on with what is before it. */
const CODE_INDENT = 4;
const TAB = 4;

const HEADING = /^#{1,6}(?=[ \t]|$)/;
const UNDERLINE = /^(?:=+|-+)$/;
const FENCE = /^(?:(`{3,})[^`]*|(~{3,})(?!~).*)$/;
const LIST_ITEM = /^(?:[-*+]|(\d{1,9})[.)])(?=[ \t]|$)/;
const RULE = /^(?:\*{3,}|-{3,}|_{3,})$/;
const TABLE_RULE = /^[|:\- \t]+$/;

const BLOCKS =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul';

/** How HTML begins, and with what it ends: those without an end of their own go on to the next blank line. */
const HTML: readonly (readonly [begin: RegExp, end?: RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![a-z]/i, />/],
  [new RegExp(`^</?(?:${BLOCKS})(?=[\\s/>]|$)`, 'i')],
];
/** Any other tag that stands alone in its line; it does not part a paragraph. */
const LONE_TAG = /^<\/?[a-z][^<>]*>$/i;

/**
 * The headings of a Markdown text, in one pass over its lines: those in quotes, lists, code and HTML are not the document's own, so
 * nothing inside of these is looked at, however deep it is nested.
 */
export function headingsIn(text: string): readonly MarkdownHeading[] {
  const scanner = new HeadingScanner();
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 ? text.length : end;
    scanner.read(lineOf(text.slice(start, stop), start));
    start = stop + 1;
  }
  return scanner.headings;
}

function lineOf(line: string, start: number): Line {
  let [indent, at] = [0, 0];
  for (; line[at] === ' ' || line[at] === '\t'; at++) indent += line[at] === ' ' ? 1 : TAB - (indent % TAB);
  return { start, indent, text: line.slice(at).trimEnd() };
}

/** What a line of a quote or an item is about: the marks of those inside of it are passed over. */
const MARKS = /^(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))[ \t]*/;

function isParagraph(content: string): boolean {
  let text = content;
  for (let marks; (marks = MARKS.exec(text));) text = text.slice(marks[0].length);
  return text !== '' && !HEADING.test(text) && !FENCE.test(text) && !isRule(text);
}

const isRule = (text: string): boolean => RULE.test(text.replace(/[ \t]+/g, ''));

class HeadingScanner {
  readonly headings: MarkdownHeading[] = [];
  private fence: string | undefined;
  /** What ends the HTML that was begun; null: a blank line. */
  private html: RegExp | null | undefined;
  private paragraph: { start: number; lines: string[]; isTable: boolean } | undefined;
  /** How far a line has to stand in to belong to the item of a list. */
  private itemIndent: number | undefined;
  /** A paragraph of a quote or a list goes on without their marks. */
  private mayGoOn = false;

  read(line: Line): void {
    if (this.fence !== undefined) this.readCode(line);
    else if (this.html !== undefined) this.readHtml(line);
    else if (line.text === '') this.endParagraph();
    else if (!this.isInside(line)) this.readBlock(line);
  }

  private readCode({ indent, text }: Line): void {
    const isEnd = indent < CODE_INDENT && text.length >= this.fence!.length && text === this.fence![0]!.repeat(text.length);
    if (isEnd) this.fence = undefined;
  }

  private readHtml({ text }: Line): void {
    if (this.html === null ? text === '' : this.html!.test(text)) this.html = undefined;
  }

  /** Of an item, of code, or of a paragraph that would be code by its indent. */
  private isInside({ indent, text }: Line): boolean {
    if (this.itemIndent !== undefined && indent >= this.itemIndent) {
      this.mayGoOn = isParagraph(text);
      return true;
    }
    if (indent < CODE_INDENT) return false;
    this.paragraph?.lines.push(text);
    return true;
  }

  private readBlock(line: Line): void {
    const { text } = line;
    const [mark] = HEADING.exec(text) ?? [];
    if (mark !== undefined) this.heading(line.start, text.slice(mark.length).replace(/(?:^|[ \t])#+$/, ''));
    else if (this.paragraph && !this.paragraph.isTable && UNDERLINE.test(text)) {
      this.heading(this.paragraph.start, this.paragraph.lines.join(' '));
    } else if (!this.beginsBlock(line)) this.readText(line);
  }

  private beginsBlock({ indent, text }: Line): boolean {
    const fence = FENCE.exec(text);
    if (fence) {
      this.begin();
      this.fence = fence[1] ?? fence[2]!;
      return true;
    }
    if (text.startsWith('>')) {
      this.begin();
      this.mayGoOn = isParagraph(text);
      return true;
    }
    if (isRule(text)) {
      this.begin();
      return true;
    }
    return this.beginsItem(indent, text) || this.beginsHtml(text);
  }

  private beginsItem(indent: number, text: string): boolean {
    const [mark, number] = LIST_ITEM.exec(text) ?? [];
    if (mark === undefined) return false;
    const content = text.slice(mark.length).trimStart();
    const isAllowed = this.itemIndent !== undefined || !this.isInParagraph || (content !== '' && Number(number ?? 1) === 1);
    if (!isAllowed) return false;
    this.begin();
    const space = text.length - mark.length - content.length;
    this.itemIndent = indent + mark.length + (content === '' || space > CODE_INDENT ? 1 : space);
    this.mayGoOn = isParagraph(content);
    return true;
  }

  private beginsHtml(text: string): boolean {
    const kind = HTML.find(([begin]) => begin.test(text));
    if (!kind && (this.isInParagraph || !LONE_TAG.test(text))) return false;
    this.begin();
    const end = kind?.[1];
    if (!end?.test(text)) this.html = end ?? null;
    return true;
  }

  private readText({ start, text }: Line): void {
    if (this.mayGoOn) return;
    this.itemIndent = undefined;
    this.paragraph ??= { start, lines: [], isTable: false };
    this.paragraph.isTable ||= this.paragraph.lines.length === 1 && text.includes('|') && TABLE_RULE.test(text);
    this.paragraph.lines.push(text);
  }

  private get isInParagraph(): boolean {
    return this.paragraph !== undefined || this.mayGoOn;
  }

  private heading(start: number, text: string): void {
    this.begin();
    this.headings.push({ start, text: text.trim() });
  }

  /** Something else begins: what was open is over. */
  private begin(): void {
    this.endParagraph();
    this.itemIndent = undefined;
  }

  private endParagraph(): void {
    this.paragraph = undefined;
    this.mayGoOn = false;
  }
}
