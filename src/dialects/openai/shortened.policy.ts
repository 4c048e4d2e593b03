/** The maximum size of data in one line of a stream. DocsGPT's command line cannot read a line of 64 KiB or more. */
export const LINE_BYTES_MAX = 48 * 1024;
const TEXT_CHARACTERS_MAX = 2_000;
const TEXT_CHARACTERS_MIN = 30;

/** The same data, with its texts cut if it is too long for one line. The conversation keeps the whole texts. */
export function shortened(docsgpt: object): object {
  const text = JSON.stringify(docsgpt);
  let short = docsgpt;
  for (let characters = TEXT_CHARACTERS_MAX; !fits(short) && characters > TEXT_CHARACTERS_MIN; characters /= 2)
    short = JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? cut(value, characters) : value)) as object;
  return short;
}

const fits = (docsgpt: object): boolean => Buffer.byteLength(JSON.stringify(docsgpt)) <= LINE_BYTES_MAX;

const cut = (text: string, characters: number): string =>
  text.length > characters ? `${text.slice(0, characters).toWellFormed()}…` : text;
