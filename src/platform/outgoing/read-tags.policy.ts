import { type Handler, Parser } from 'htmlparser2';

/** Maximum nesting, deeper than real pages. The parser takes longer per tag the more tags are open. */
const OPEN_TAGS_MAX = 1000;

const PIECE_CHARACTERS = 8 * 1024;

type TagHandler = Pick<Handler, 'onopentag' | 'ontext' | 'onclosetag'>;

/** `hasEnough` ends reading early. `xmlMode` parses XML. */
type TagReading = Readonly<{ hasEnough?: () => boolean; xmlMode?: boolean }>;

/** Parses HTML or XML as a stream of tags until the handler has enough. True if the text was read to its end. */
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
