import { fileTypeFromBuffer } from 'file-type';
import { DOCUMENT_EXTENSIONS, extensionOf } from '../document.port.js';
import { hasByteOrderMark } from './plain-text.js';
import { typeNotAccepted } from '../refusals.js';

/** What the first bytes of a kind of file say, for kinds that are not text. */
const SAID_BY_CONTENT: Readonly<Record<string, readonly string[]>> = {
  pdf: ['pdf'],
  docx: ['docx', 'zip'],
  xlsx: ['xlsx', 'zip'],
  pptx: ['pptx', 'zip'],
  epub: ['epub', 'zip'],
};

/** How much of a text is looked at for bytes that no text has. */
const HEAD_BYTES = 4096;

/** The kind by the name, when the content does not say otherwise. @throws Rejection `document-type-not-accepted` */
export async function kindOf(filename: string, bytes: Uint8Array): Promise<string> {
  const extension = extensionOf(filename);
  if (!DOCUMENT_EXTENSIONS.includes(extension)) {
    throw typeNotAccepted(filename, `files of this kind are not accepted; accepted are ${DOCUMENT_EXTENSIONS.join(', ')}.`);
  }
  const said = (await fileTypeFromBuffer(bytes).catch(() => undefined))?.ext;
  const expected = SAID_BY_CONTENT[extension];
  const agrees = expected ? said !== undefined && expected.includes(said) : said !== 'pdf' && isText(bytes);
  if (!agrees)
    throw typeNotAccepted(filename, `its content is ${said ? `of the kind ${said}` : 'not of the kind its name says'}.`);
  return extension;
}

/** A short text may begin like a picture or a program (`BM`, `MZ`), so it is not the beginning that decides. */
const isText = (bytes: Uint8Array): boolean => hasByteOrderMark(bytes) || !bytes.subarray(0, HEAD_BYTES).includes(0);
