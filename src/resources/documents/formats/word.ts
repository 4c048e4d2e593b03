import mammoth from 'mammoth';
import type { Section } from '../document.port.js';
import { Archive } from './archive.js';
import { parseHtml } from './html.js';
import type { ParsingLimits } from '../limits.js';
import { unreadable } from '../refusals.js';

/** Converts to HTML, which keeps headings, lists and tables. Pictures are left out and external files are not fetched. */
export async function parseWord(filename: string, bytes: Uint8Array, limits: ParsingLimits): Promise<readonly Section[]> {
  const archive = Archive.open(filename, bytes, limits);
  // The library recurses into the XML tree. The copy has a limited depth.
  const buffer = archive.copyOfXml(() => ({}));
  const convertImage = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
  const { value } = await mammoth.convertToHtml({ buffer }, { externalFileAccess: false, convertImage }).catch(() => {
    throw unreadable(filename, 'a Word document');
  });
  return parseHtml(filename, value);
}
