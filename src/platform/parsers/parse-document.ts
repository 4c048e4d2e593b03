import { type FileHandle, open } from 'node:fs/promises';
import type { DocumentFile, Section } from '../../sources/document.port.js';
import { ARCHIVE_END_BYTES_MAX, findDirectory, readDirectory } from './archive.js';
import { parseCsv } from './csv.js';
import { parseEpub } from './epub.js';
import { kindOf } from './file-kind.js';
import { parseHtml } from './html.js';
import { parseJson } from './json.js';
import type { ParsingLimits } from './limits.js';
import { parseMarkdown, parseMdx } from './markdown.js';
import { parsePdf } from './pdf.js';
import { decodeText, parseText, tidy } from './plain-text.js';
import { tooLarge } from './refusals.js';
import { parseRestructuredText } from './restructured-text.js';
import { parseSlides } from './slides.js';
import { parseSpreadsheet } from './spreadsheet.js';
import { parseWord } from './word.js';

const TEXT_PARSERS: Readonly<Record<string, (filename: string, text: string, limits: ParsingLimits) => readonly Section[]>> = {
  csv: parseCsv,
  html: (filename, text) => parseHtml(filename, text),
  json: parseJson,
  md: parseMarkdown,
  mdx: parseMdx,
  rst: parseRestructuredText,
  txt: parseText,
};

type BinaryParser = (
  filename: string,
  bytes: Uint8Array,
  limits: ParsingLimits,
) => readonly Section[] | Promise<readonly Section[]>;

const BINARY_PARSERS: Readonly<Record<string, BinaryParser>> = {
  docx: parseWord,
  epub: parseEpub,
  pdf: parsePdf,
  pptx: parseSlides,
  xlsx: parseSpreadsheet,
};

const ARCHIVES = new Set(['docx', 'epub', 'pptx', 'xlsx']);

/** How much of a file is looked at to tell what it is. */
export const HEAD_BYTES = 4100;

/** Refuses a file on disk by its kind, its size, and what it would unpack to; little of it is read. @throws Rejection */
export async function checkFile(filename: string, path: string, limits: ParsingLimits): Promise<void> {
  await inspectFile(filename, path, limits, async (head) => ({ kind: await kindOf(filename, head) }));
}

/** What a file on disk is by its beginning. @throws Rejection for its kind, its size, and what it would unpack to */
export async function inspectFile<Kind extends Readonly<{ kind: string }>>(
  filename: string,
  path: string,
  limits: ParsingLimits,
  kindOfHead: (head: Uint8Array) => Promise<Kind>,
): Promise<Kind> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > limits.fileBytesMax) throw tooLarge(filename, `it is larger than ${limits.fileBytesMax} bytes.`);
    const known = await kindOfHead(await bytesAt(file, 0, Math.min(size, HEAD_BYTES)));
    if (!ARCHIVES.has(known.kind)) return known;
    const endBytes = Math.min(size, ARCHIVE_END_BYTES_MAX);
    const directory = findDirectory(filename, await bytesAt(file, size - endBytes, endBytes), limits);
    readDirectory(filename, await bytesAt(file, directory.offset, directory.size), size, limits);
    return known;
  } finally {
    await file.close();
  }
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer.subarray(0, bytesRead);
}

export const isTextKind = (kind: string): boolean => kind in TEXT_PARSERS;

/** The document's text by section. @throws Rejection */
export async function parseDocument(file: DocumentFile, limits: ParsingLimits): Promise<readonly Section[]> {
  const { filename, bytes } = file;
  if (bytes.byteLength > limits.fileBytesMax) throw tooLarge(filename, `it is larger than ${limits.fileBytesMax} bytes.`);
  return readDocument(file, await kindOf(filename, bytes), limits);
}

/** The text by section of a document whose kind is known. @throws Rejection */
export async function readDocument(
  { filename, bytes }: DocumentFile,
  kind: string,
  limits: ParsingLimits,
): Promise<readonly Section[]> {
  const parseText = TEXT_PARSERS[kind];
  const sections = parseText
    ? parseText(filename, decodeText(filename, bytes), limits)
    : await BINARY_PARSERS[kind]!(filename, bytes, limits);
  const chars = sections.reduce((sum, section) => sum + section.text.length, 0);
  if (chars > limits.textCharsMax) throw tooLarge(filename, `it has more than ${limits.textCharsMax} characters of text.`);
  return sections.map(({ title, text }) => ({ title: tidy(title), text: tidy(text) }));
}
