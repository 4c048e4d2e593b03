import type { XmlHandlers } from './xml.js';

const NAME = /^[\p{L}_][\p{L}\p{N}_:.-]*$/u;
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => ESCAPES[character]!);

/** Real elements have fewer attributes. A tree takes longer per attribute the more there are. */
export const ATTRIBUTES_MAX = 1_000;

/** A tag is invalid or has too many attributes. */
export class NotCopied extends Error {
  override readonly name = 'NotCopied';
}

/**
 * Rewrites the XML that was read, without comments and entities. A library that parses the copy cannot interpret it differently.
 * @throws NotCopied
 */
export class XmlCopy {
  private readonly written: string[] = [];

  get xml(): string {
    return this.written.join('');
  }

  /** Wraps handlers so that everything they receive is copied. */
  beside({ onOpen, onText, onClose }: XmlHandlers): XmlHandlers {
    return {
      onOpen: (name, attributes) => {
        onOpen?.(name, attributes);
        this.written.push(openingTag(name, attributes));
      },
      onText: (text) => {
        onText?.(text);
        this.written.push(escaped(text));
      },
      onClose: (name) => {
        onClose?.(name);
        this.written.push(`</${name}>`);
      },
    };
  }
}

function openingTag(name: string, attributes: Readonly<Record<string, string>>): string {
  const entries = Object.entries(attributes);
  if (entries.length > ATTRIBUTES_MAX || ![name, ...entries.map(([key]) => key)].every((each) => NAME.test(each))) {
    throw new NotCopied(name);
  }
  return `<${name}${entries.map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')}>`;
}
