import { cutText } from '../../../kernel/cut-text.js';
import { withoutTrailing } from '../../../kernel/trailing.js';
import { DOCUMENT_EXTENSIONS, extensionOf, MEDIA_TYPES } from '../../documents/document.port.js';
import { storableText } from '../../documents/storable-text.policy.js';

const FILENAME_CHARACTERS_MAX = 200;

const EXTENSIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(MEDIA_TYPES).map(([extension, type]) => [type, extension])),
  'application/xhtml+xml': 'html',
  'text/markdown': 'md',
  'text/x-markdown': 'md',
};

/** Types that are too general, so that the extension in the address decides. */
const VAGUE = new Set(['', 'text/plain', 'application/octet-stream', 'binary/octet-stream']);

/** The kind of document of an answer, as a file extension. Undefined if it cannot be read. */
export function pageExtension(contentType: string | undefined, url: string): string | undefined {
  const type = contentType?.split(';', 1)[0]!.trim().toLowerCase() ?? '';
  const known = EXTENSIONS[type];
  if (known !== undefined && !VAGUE.has(type)) return known;
  const ending = extensionOf(new URL(url).pathname);
  if (VAGUE.has(type) && DOCUMENT_EXTENSIONS.includes(ending)) return ending;
  if (type === '') return 'html';
  return type.startsWith('text/') && type !== 'text/xml' ? 'txt' : undefined;
}

/** A unique filename for a page: the address without its scheme, with the extension of its kind. */
export function pageFilename(url: string, extension: string, taken: Set<string>): string {
  const { host, pathname, search } = new URL(url);
  const address = withoutTrailing(storableText(readable(`${host}${pathname}${search}`)), '/');
  const ending = `.${extension}`;
  const stem = cutText(address.endsWith(ending) ? address.slice(0, -ending.length) : address, FILENAME_CHARACTERS_MAX);
  let name = stem + ending;
  for (let number = 2; taken.has(name); number++) name = `${stem} (${number})${ending}`;
  taken.add(name);
  return name;
}

function readable(address: string): string {
  try {
    return decodeURI(address);
  } catch {
    return address;
  }
}
