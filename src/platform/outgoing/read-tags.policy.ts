import { type Handler, Parser } from 'htmlparser2';
import { countOpenTags } from './open-tags.policy.js';

/** Maximum nesting, deeper than real pages. The parser takes longer per tag the more tags are open. */
const OPEN_TAGS_MAX = 1000;
/** Maximum number of attributes of a tag, more than real ones have. Each takes a hundred bytes of memory and a microsecond. */
export const ATTRIBUTES_MAX = 1000;

/** The maximums are checked after each piece of this many characters. */
const PIECE_CHARACTERS = 8 * 1024;
/** Number of characters after which other work gets a turn. A hostile page can make them take 20 ms. */
export const TURN_CHARACTERS = 8 * PIECE_CHARACTERS;

type TagHandler = Pick<Handler, 'onopentag' | 'ontext' | 'onclosetag'>;

/** `hasEnough` ends reading early. `xmlMode` parses XML. */
type TagReading = Readonly<{ hasEnough?: () => boolean; xmlMode?: boolean }>;

/**
 * Parses HTML or XML as a stream of tags until the handler has enough. True if the text was read to its end. Texts come from
 * any web site and may be long, so other work gets its turns meanwhile.
 */
export async function readTags(
  text: string,
  handler: Partial<TagHandler>,
  { hasEnough = () => false, xmlMode = false }: TagReading = {},
): Promise<boolean> {
  let open = 0;
  let attributesOfTag = 0;
  const tags: Partial<Handler> = {
    ...handler,
    onopentagname() {
      attributesOfTag = 0;
    },
    onattribute() {
      attributesOfTag++;
    },
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
  countOpenTags(parser);
  for (let at = 0; at < text.length; at += PIECE_CHARACTERS) {
    if (open > OPEN_TAGS_MAX || attributesOfTag > ATTRIBUTES_MAX || hasEnough()) return false;
    if (at > 0 && at % TURN_CHARACTERS === 0) await new Promise((resolve) => setImmediate(resolve));
    parser.write(text.slice(at, at + PIECE_CHARACTERS));
  }
  parser.end();
  return true;
}
