import { extractText, getDocumentProxy } from 'unpdf';
import type { Section } from '../document.port.js';
import type { ParsingLimits } from '../limits.js';
import { tidy, titleOf } from './plain-text.js';
import { tooLarge, unreadable } from '../refusals.js';

/** One section per page. Takes over the bytes: the caller must not use them again. */
export async function parsePdf(filename: string, bytes: Uint8Array, limits: ParsingLimits): Promise<readonly Section[]> {
  const document = await getDocumentProxy(bytes, { verbosity: 0 }).catch(() => {
    throw unreadable(filename, 'PDF');
  });
  try {
    if (document.numPages > limits.pagesMax) throw tooLarge(filename, `it has more than ${limits.pagesMax} pages.`);
    const { text } = await extractText(document).catch(() => {
      throw unreadable(filename, 'PDF');
    });
    const title = titleOf(filename);
    return text
      .map((page, index) => ({ title, ...(text.length > 1 && { page: index + 1 }), text: tidy(page) }))
      .filter((section) => section.text.trim() !== '');
  } finally {
    await document.loadingTask.destroy();
  }
}
