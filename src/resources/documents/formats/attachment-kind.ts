import { fileTypeFromBuffer } from 'file-type';
import { extensionOf, MEDIA_TYPES } from '../document.port.js';
import { HEAD_BYTES } from './inspect-file.js';
import { hasByteOrderMark } from './plain-text.js';
import { refuseBlank } from './visible-damage.js';
import { typeNotAccepted, withoutText } from '../refusals.js';
import { isPicture, PDF, PICTURE_MIME_TYPES } from '../readable-files.policy.js';

/** Kinds that are zips. The first bytes alone may not show which kind it is. */
const ARCHIVES = ['docx', 'xlsx', 'pptx', 'epub'];
const TEXTS = ['csv', 'html', 'json', 'md', 'mdx', 'rst', 'txt'];
const PLAIN_TEXT = 'txt';

/** How a file is read: as a kind of document or as a picture. */
export type AttachmentKind = Readonly<{ kind: string; mimeType: string }>;

const document = (kind: string): AttachmentKind => ({ kind, mimeType: MEDIA_TYPES[kind]! });

/**
 * Determines the kind of a file by its first bytes. The name distinguishes kinds of text and kinds of zip. Any other text is
 * plain. @throws Rejection `document-type-not-accepted`, `document-unreadable` if the file is empty
 */
export async function attachmentKindOf(filename: string, head: Uint8Array): Promise<AttachmentKind> {
  if (head.byteLength === 0) throw withoutText(filename);
  const extension = extensionOf(filename);
  const said = await fileTypeFromBuffer(head).catch(() => undefined);
  if (said?.mime === PDF) return document('pdf');
  const isKnownText = TEXTS.includes(extension);
  if (isText(head, isKnownText)) {
    refuseBlank(filename, { bytes: head, isWhole: head.byteLength < HEAD_BYTES });
    return document(isKnownText ? extension : PLAIN_TEXT);
  }
  const mimeType = said?.mime === 'image/apng' ? 'image/png' : said?.mime;
  if (mimeType && PICTURE_MIME_TYPES.includes(mimeType)) return { kind: 'picture', mimeType };
  const archive = said?.ext === 'zip' ? extension : (said?.ext ?? '');
  if (ARCHIVES.includes(archive)) return document(archive);
  throw typeNotAccepted(filename, `files of this kind cannot be read${said ? `: its content is of the kind ${said.ext}` : ''}.`);
}

/** The kind of a file whose MIME type is known. */
export const kindOfMimeType = (filename: string, mimeType: string): string =>
  isPicture(mimeType)
    ? 'picture'
    : MEDIA_TYPES[extensionOf(filename)] === mimeType
      ? extensionOf(filename)
      : (Object.keys(MEDIA_TYPES).find((kind) => MEDIA_TYPES[kind] === mimeType) ?? PLAIN_TEXT);

/** Whether bytes are UTF-8 without NUL. A file named as text may have an older encoding. A head may end inside a character. */
function isText(head: Uint8Array, isKnownText: boolean): boolean {
  if (hasByteOrderMark(head)) return true;
  if (head.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: head.byteLength >= HEAD_BYTES });
    return true;
  } catch {
    return isKnownText;
  }
}
