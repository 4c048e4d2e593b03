import { type Handler, Parser } from 'htmlparser2';

/** Deeper than any page that people write; the parser takes longer for each tag the more of them are open. */
const OPEN_TAGS_MAX = 1000;

const PIECE_CHARACTERS = 8 * 1024;

type TagHandler = Pick<Handler, 'onopentag' | 'ontext' | 'onclosetag'>;

/** When reading ends before the text does, and whether the text is XML. */
type TagReading = Readonly<{ hasEnough?: () => boolean; xmlMode?: boolean }>;

/** Reads a page, or another text with tags, as a stream of tags until the reader has enough. True when it was read to its end. */
export function readTags(
  text: string,
  handler: Partial<TagHandler>,
  { hasEnough = () => false, xmlMode = false }: TagReading = {},
): boolean {
  let open = 0;
  const tags: Partial<TagHandler> = {
    ...handler,
    onopentag(name, attributes, isImplied) {
      open++;
      handler.onopentag?.(name, attributes, isImplied);
    },
    onclosetag(name, isImplied) {
      open--;
      handler.onclosetag?.(name, isImplied);
    },
  };
  const parser = new Parser(tags, { xmlMode });
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS) {
    if (open > OPEN_TAGS_MAX || hasEnough()) return false;
    parser.write(text.slice(at, at + PIECE_CHARACTERS));
  }
  parser.end();
  return true;
}
