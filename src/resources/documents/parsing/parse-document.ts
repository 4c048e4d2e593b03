import { declaredCharset } from '../../../platform/outgoing/declared-charset.policy.js';
import type { DocumentFile, Section } from '../document.port.js';
import { parseCsv } from '../formats/csv.js';
import { parseEpub } from '../formats/epub.js';
import { kindOf } from '../formats/file-kind.js';
import { parseHtml } from '../formats/html.js';
import { parseJson } from '../formats/json.js';
import type { ParsingLimits } from '../limits.js';
import { parseMarkdown, parseMdx } from '../formats/markdown.js';
import { parsePdf } from '../formats/pdf.js';
import { decodeText, parseText, tidy } from '../formats/plain-text.js';
import { tooLarge } from '../refusals.js';
import { parseRestructuredText } from '../formats/restructured-text.js';
import { parseSlides } from '../formats/slides.js';
import { parseSpreadsheet } from '../formats/spreadsheet.js';
import { parseWord } from '../formats/word.js';

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

export const isTextKind = (kind: string): boolean => kind in TEXT_PARSERS;

/** The text of a document by section. @throws Rejection */
export async function parseDocument(file: DocumentFile, limits: ParsingLimits): Promise<readonly Section[]> {
  const { filename, bytes } = file;
  if (bytes.byteLength > limits.fileBytesMax) throw tooLarge(filename, `it is larger than ${limits.fileBytesMax} bytes.`);
  return readDocument(file, await kindOf(filename, bytes), limits);
}

/** The text of a document of a known kind by section. @throws Rejection */
export async function readDocument(
  { filename, bytes }: DocumentFile,
  kind: string,
  limits: ParsingLimits,
): Promise<readonly Section[]> {
  const parseText = TEXT_PARSERS[kind];
  const sections = parseText
    ? parseText(filename, decodeText(filename, bytes, kind === 'html' ? declaredCharset(bytes) : undefined), limits)
    : await BINARY_PARSERS[kind]!(filename, bytes, limits);
  const chars = sections.reduce((sum, section) => sum + section.text.length, 0);
  if (chars > limits.textCharsMax) throw tooLarge(filename, `it has more than ${limits.textCharsMax} characters of text.`);
  return sections.map((section) => ({ ...section, title: tidy(section.title), text: tidy(section.text) }));
}
