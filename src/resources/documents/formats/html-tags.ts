import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

export type HtmlHandlers = Readonly<{
  onOpen: (name: string) => void;
  onText: (text: string) => void;
  onClose: (name: string) => void;
}>;

/** Elements without content, which have no end tag. */
const VOID = new Set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(' '),
);
/** Elements in which tags may be self-closing. */
const FOREIGN = new Set(['svg', 'math']);

/**
 * Reads HTML as a stream of tags. An element ends with its own end tag, with that of an enclosing element, or with the page. Open
 * elements are counted by name, so that deep nesting does not make each tag slower.
 */
export function readHtml(html: string, handlers: HtmlHandlers): void {
  const tokenizer = new Tokenizer({ decodeEntities: true }, new OpenElements(html, handlers));
  tokenizer.write(html);
  tokenizer.end();
}

class OpenElements implements TokenizerCallbacks {
  private readonly open: string[] = [];
  private readonly countByName = new Map<string, number>();
  private foreign = 0;
  private name = '';

  constructor(
    private readonly html: string,
    private readonly handlers: HtmlHandlers,
  ) {}

  onopentagname(start: number, end: number): void {
    this.name = this.html.slice(start, end).toLowerCase();
    // HTML ignores a form inside a form.
    if (this.name === 'form' && this.isOpen('form')) this.name = '';
    else this.begin(this.name);
  }

  onopentagend(): void {
    if (VOID.has(this.name)) this.handlers.onClose(this.name);
  }

  onselfclosingtag(): void {
    if (this.foreign > 0 && !VOID.has(this.name)) this.onclosed(this.name);
    else this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    this.onclosed(this.html.slice(start, end).toLowerCase());
  }

  ontext(start: number, end: number): void {
    this.handlers.onText(this.html.slice(start, end));
  }

  ontextentity(codePoint: number): void {
    this.handlers.onText(String.fromCodePoint(codePoint));
  }

  oncdata(start: number, end: number, endOffset: number): void {
    if (this.foreign > 0) this.handlers.onText(this.html.slice(start, end - endOffset));
  }

  onend(): void {
    while (this.open.length > 0) this.end();
  }

  isInForeignContext(): boolean {
    return this.foreign > 0;
  }

  onattribname(): void {}
  onattribdata(): void {}
  onattribentity(): void {}
  onattribend(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}

  private isOpen(name: string): boolean {
    return (this.countByName.get(name) ?? 0) > 0;
  }

  private onclosed(name: string): void {
    if (this.isOpen(name)) while (this.end() !== name);
    // As in browsers, an end tag without a start tag makes an empty element of these two.
    else if (name === 'p' || name === 'br') {
      this.handlers.onOpen(name);
      this.handlers.onClose(name);
    }
  }

  private begin(name: string): void {
    if (!VOID.has(name)) {
      this.open.push(name);
      this.countByName.set(name, (this.countByName.get(name) ?? 0) + 1);
      if (FOREIGN.has(name)) this.foreign++;
    }
    this.handlers.onOpen(name);
  }

  private end(): string | undefined {
    const name = this.open.pop();
    if (name === undefined) return undefined;
    this.countByName.set(name, this.countByName.get(name)! - 1);
    if (FOREIGN.has(name)) this.foreign--;
    this.handlers.onClose(name);
    return name;
  }
}
