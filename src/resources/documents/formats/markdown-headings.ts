/** A heading of the document: its position and its text as written. */
export type MarkdownHeading = Readonly<{ start: number; text: string }>;

type Line = Readonly<{ start: number; indent: number; text: string }>;

/** A line that is indented this far is code, unless it continues what is before it. */
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

/** The beginnings and ends of kinds of HTML blocks. A block without an end pattern ends at the next blank line. */
const HTML: readonly (readonly [begin: RegExp, end?: RegExp])[] = [
  [/^<(?:script|pre|style|textarea)(?=[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [/^<![a-z]/i, />/],
  [new RegExp(`^</?(?:${BLOCKS})(?=[\\s/>]|$)`, 'i')],
];
/** Any other tag that is alone on its line. It does not interrupt a paragraph. */
const LONE_TAG = /^<\/?[a-z][^<>]*>$/i;

/**
 * Finds the headings of a Markdown text in one pass over its lines. Quotes, lists, code and HTML are skipped, however deeply
 * nested, because headings in them do not structure the document.
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

/** The marks of nested quotes and list items at the beginning of a line. */
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
  /** The pattern that ends the open HTML block. Null: a blank line ends it. */
  private html: RegExp | null | undefined;
  private paragraph: { start: number; lines: string[]; isTable: boolean } | undefined;
  /** The minimum indent of a line that belongs to the open list item. */
  private itemIndent: number | undefined;
  /** Whether the next line may continue a paragraph of a quote or list item without the mark. */
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

  /** Whether a line belongs to a list item, to code, or to a paragraph in spite of an indent like code. */
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

  /** Ends the open paragraph and list item, because another block begins. */
  private begin(): void {
    this.endParagraph();
    this.itemIndent = undefined;
  }

  private endParagraph(): void {
    this.paragraph = undefined;
    this.mayGoOn = false;
  }
}
