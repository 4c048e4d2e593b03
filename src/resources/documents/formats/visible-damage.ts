import { unreadable, withoutText } from '../refusals.js';
import { decodeText } from './plain-text.js';

/** The beginning of a file. `isWhole`: the file has no more bytes. */
export type FileHead = Readonly<{ bytes: Uint8Array; isWhole: boolean }>;

const JSON_START = /^(?:[[{"\-\d]|true|false|null)/;
/** The beginning of each object in a PDF. */
const PDF_OBJECT = /\d\s+obj\b/;

/** A valid archive of this kind has at least one of these entries. */
const NEEDED_ENTRIES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  docx: ['word/document.xml', '_rels/.rels'],
  epub: ['META-INF/container.xml'],
  pptx: ['ppt/presentation.xml'],
  xlsx: ['xl/workbook.xml'],
};

/** Refuses a file whose first bytes show that it is unreadable. @throws Rejection `document-unreadable` */
export function refuseDamagedHead(filename: string, kind: string, head: FileHead): void {
  if (kind === 'json' && !mayBeJson(decodeText(filename, head.bytes).trim(), head.isWhole)) throw unreadable(filename, 'JSON');
  if (kind === 'pdf' && head.isWhole && !PDF_OBJECT.test(Buffer.from(head.bytes).toString('latin1')))
    throw unreadable(filename, 'PDF');
}

/** Refuses a text that is only white space. @throws Rejection `document-unreadable` */
export function refuseBlank(filename: string, { bytes, isWhole }: FileHead): void {
  if (isWhole && decodeText(filename, bytes).trim() === '') throw withoutText(filename);
}

/** Refuses an archive that is not of the kind its name says. @throws Rejection `document-unreadable` */
export function refuseOtherArchive(filename: string, kind: string, names: ReadonlySet<string>): void {
  const needed = NEEDED_ENTRIES[kind];
  if (needed && !needed.some((name) => names.has(name))) throw unreadable(filename, kind);
}

function mayBeJson(text: string, isWhole: boolean): boolean {
  if (!isWhole) return text === '' || JSON_START.test(text);
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
