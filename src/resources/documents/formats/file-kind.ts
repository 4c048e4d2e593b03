import { fileTypeFromBuffer } from 'file-type';
import { DOCUMENT_EXTENSIONS, extensionOf } from '../document.port.js';
import { hasByteOrderMark } from './plain-text.js';
import { typeNotAccepted } from '../refusals.js';

/** The types that `file-type` may detect for each binary kind. */
const SAID_BY_CONTENT: Readonly<Record<string, readonly string[]>> = {
  pdf: ['pdf'],
  docx: ['docx', 'zip'],
  xlsx: ['xlsx', 'zip'],
  pptx: ['pptx', 'zip'],
  epub: ['epub', 'zip'],
};

/** The bytes of a text that are searched for NUL. */
const HEAD_BYTES = 4096;

/** The kind by the name, if the content does not contradict it. @throws Rejection `document-type-not-accepted` */
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

/** Ignores what the content looks like, because a short text may begin like a picture or a program (`BM`, `MZ`). */
const isText = (bytes: Uint8Array): boolean => hasByteOrderMark(bytes) || !bytes.subarray(0, HEAD_BYTES).includes(0);
