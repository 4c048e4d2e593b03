import type { AttachmentContent } from '../attachment-reader.port.js';
import type { DocumentFile } from '../document.port.js';
import { headOf } from '../text-head.policy.js';
import { kindOfMimeType } from '../formats/attachment-kind.js';
import type { ParsingLimits } from '../limits.js';
import { isTextKind, readDocument } from './parse-document.js';
import { picturePages } from '../formats/pdf-pages.js';
import { readPicture } from '../formats/pictures.js';
import { withoutText } from '../refusals.js';
import { TEXT_TOKENS_MAX } from '../readable-files.policy.js';

const LINE_FEED = 0x0a;

/** Reads the text and the pictures of an attached file. @throws Rejection */
export async function readAttachment(file: DocumentFile, mimeType: string, limits: ParsingLimits): Promise<AttachmentContent> {
  const { filename, bytes } = file;
  const kind = kindOfMimeType(filename, mimeType);
  if (kind === 'picture') {
    const picture = await readPicture(filename, mimeType, bytes);
    return { text: '', tokens: 0, isCut: false, pages: null, pictures: [picture] };
  }
  const { pages, pictures } = kind === 'pdf' ? await picturePages(filename, bytes.slice()) : { pages: null, pictures: [] };
  const isLong = isTextKind(kind) && bytes.byteLength > limits.attachmentTextBytesMax;
  const read = isLong ? { filename, bytes: headOfLines(bytes, limits.attachmentTextBytesMax) } : file;
  // A truncated JSON text is not valid JSON, so it is read as plain text.
  const sections = await readDocument(read, isLong && kind === 'json' ? 'txt' : kind, limits);
  const head = headOf(sections.map(({ text }) => text).join('\n\n'), TEXT_TOKENS_MAX);
  if (head.text.trim() === '' && pictures.length === 0) throw withoutText(filename);
  return { ...head, isCut: head.isCut || isLong, pages, pictures };
}

/** The first whole lines that fit, or the first whole characters if the first line is too long. */
function headOfLines(bytes: Uint8Array<ArrayBuffer>, bytesMax: number): Uint8Array<ArrayBuffer> {
  const lineEnd = bytes.lastIndexOf(LINE_FEED, bytesMax - 1) + 1;
  let end = bytesMax;
  while (end > 0 && isInsideCharacter(bytes[end]!)) end--;
  return bytes.slice(0, lineEnd > 0 ? lineEnd : end);
}

/** Whether a byte continues a UTF-8 character. */
const isInsideCharacter = (byte: number): boolean => (byte & 0xc0) === 0x80;
