import { type Handler, Parser } from 'htmlparser2';

/** Deeper than any page that people write; the parser takes longer for each tag the more of them are open. */
const OPEN_TAGS_MAX = 1000;

const PIECE_CHARACTERS = 8 * 1024;

type TagHandler = Pick<Handler, 'onopentag' | 'ontext' | 'onclosetag'>;

/** Reads a page as a stream of tags, until somebody has had enough of it. Resolves to whether it was read to its end. */
export function readTags(html: string, handler: Partial<TagHandler>, hasEnough: () => boolean = () => false): boolean {
  let open = 0;
  const parser = new Parser({
    ...handler,
    onopentag(name, attributes, isImplied) {
      open++;
      handler.onopentag?.(name, attributes, isImplied);
    },
    onclosetag(name, isImplied) {
      open--;
      handler.onclosetag?.(name, isImplied);
    },
  });
  for (let at = 0; at < html.length; at += PIECE_CHARACTERS) {
    if (open > OPEN_TAGS_MAX || hasEnough()) return false;
    parser.write(html.slice(at, at + PIECE_CHARACTERS));
  }
  parser.end();
  return true;
}
