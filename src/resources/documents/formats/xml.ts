import { Parser } from 'htmlparser2';

export type XmlHandlers = Readonly<{
  onOpen?: (name: string, attributes: Readonly<Record<string, string>>) => void;
  onText?: (text: string) => void;
  onClose?: (name: string) => void;
}>;

/** Its tags are nested deeper than anybody nests them. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

/**
 * Reads XML as a stream of tags; entities other than the predefined ones stay as they stand. The more tags are open, the longer the
 * parser takes for each. @throws TooDeep
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
