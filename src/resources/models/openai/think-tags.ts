import type { ModelChunk } from '../model/language-model.port.js';

const OPENING = '<think>';
const CLOSING = '</think>';
/** Maximum number of characters before the tag. Models write only line breaks there. */
const BEFORE_CHARACTERS_MAX = 64;

/** Separates the thoughts that some models write between tags, before their answer, from the answer. */
export class ThinkTags {
  private place: 'before' | 'inside' | 'after' | 'answer' = 'before';
  private held = '';

  read(text: string): readonly ModelChunk[] {
    if (this.place === 'answer') return textOf(text);
    this.held += text;
    if (this.place === 'before') this.open();
    const thought = this.place === 'inside' ? this.close() : [];
    if (this.place === 'after' && (this.held = this.held.trimStart()) !== '') this.place = 'answer';
    return [...thought, ...(this.place === 'answer' ? textOf(this.take(this.held.length)) : [])];
  }

  /** The text that was held because a tag could follow. */
  end(): readonly ModelChunk[] {
    const rest = this.take(this.held.length);
    return this.place === 'inside' ? thoughtOf(rest) : textOf(rest);
  }

  private open(): void {
    const begun = this.held.trimStart();
    const mayFollow = begun.length < OPENING.length && OPENING.startsWith(begun);
    if (mayFollow && this.held.length <= BEFORE_CHARACTERS_MAX) return;
    this.place = begun.startsWith(OPENING) ? 'inside' : 'answer';
    if (this.place === 'inside') this.held = begun.slice(OPENING.length);
  }

  /** Takes the thought up to its closing tag, or up to what may become one. */
  private close(): readonly ModelChunk[] {
    const end = this.held.indexOf(CLOSING);
    if (end === -1) return thoughtOf(this.take(this.held.length - beginningOfTag(this.held)));
    const thought = this.take(end);
    this.take(CLOSING.length);
    this.place = 'after';
    return thoughtOf(thought);
  }

  private take(characters: number): string {
    const taken = this.held.slice(0, characters);
    this.held = this.held.slice(characters);
    return taken;
  }
}

/** How many characters at the end of a text are the beginning of a closing tag. */
function beginningOfTag(text: string): number {
  for (let length = CLOSING.length - 1; length > 0; length--) if (text.endsWith(CLOSING.slice(0, length))) return length;
  return 0;
}

const textOf = (text: string): readonly ModelChunk[] => (text === '' ? [] : [{ type: 'text', text }]);
const thoughtOf = (text: string): readonly ModelChunk[] => (text === '' ? [] : [{ type: 'thought', text }]);
