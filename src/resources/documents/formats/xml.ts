import { Parser } from 'htmlparser2';

export type XmlHandlers = Readonly<{
  onOpen?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  onText?: (text: string) => void;
  onClose?: (name: string) => void;
}>;

/** The tags are nested deeper than the limit. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

/**
 * Reads XML as a stream of tags. Only predefined entities are decoded. The depth is limited because the parser takes longer per
 * tag the more tags are open. @throws TooDeep
 */
export function readXml(xml: string, depthMax: number, { onOpen, onText, onClose }: XmlHandlers): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        if (++depth > depthMax) throw new TooDeep();
        onOpen?.(name, attributes);
      },
      ontext: (text) => onText?.(text),
      onclosetag: (name) => {
        depth--;
        onClose?.(name);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(xml);
  parser.end();
}
