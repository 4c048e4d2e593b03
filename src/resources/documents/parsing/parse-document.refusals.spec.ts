import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { zipSync } from 'fflate';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bookFile,
  nestedFile,
  pdfFile,
  slidesFile,
  spreadsheetFile,
  textFile,
  wordFile,
  zipFile,
} from '../../../../test/support/document-files.js';
import { documentRefusal } from '../../../../test/support/document-refusal.js';
import type { DocumentFile } from '../document.port.js';
import { Archive } from '../formats/archive.js';
import { checkFile } from '../formats/inspect-file.js';
import { ATTRIBUTES_MAX } from '../formats/xml-copy.js';
import { PARSING_LIMITS } from '../limits.js';
import { parseDocument } from './parse-document.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'documents-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function onDisk({ filename, bytes }: DocumentFile): Promise<string> {
  const path = join(folder, filename);
  await writeFile(path, bytes);
  return path;
}

const read = (file: DocumentFile, limits = PARSING_LIMITS) => parseDocument(file, limits);

describe('an uploaded document', () => {
  it.each(['tool.exe', 'noending', 'picture.png'])('is refused if its kind is not supported: %s', async (filename) => {
    await expect(read(textFile(filename, 'x'))).rejects.toEqual(documentRefusal('document-type-not-accepted', filename));
  });

  it('is refused if its content does not match its name', async () => {
    await expect(read({ ...pdfFile('x.pdf', ['x']), filename: 'notes.txt' })).rejects.toEqual(
      documentRefusal('document-type-not-accepted', 'notes.txt'),
    );
    await expect(read({ filename: 'a.txt', bytes: Uint8Array.from([65, 0, 66]) })).rejects.toEqual(
      documentRefusal('document-type-not-accepted', 'a.txt'),
    );
    await expect(read(textFile('report.pdf', 'only text'))).rejects.toEqual(
      documentRefusal('document-type-not-accepted', 'report.pdf'),
    );
  });

  it.each([
    ['broken.json', textFile('broken.json', '{"a":')],
    ['broken.csv', textFile('broken.csv', 'a,b\n"unclosed')],
    ['broken.pdf', textFile('broken.pdf', '%PDF-1.4\nnothing of a PDF follows')],
    ['cut.docx', { filename: 'cut.docx', bytes: wordFile('cut.docx', [['text', 'x']]).bytes.slice(0, 200) }],
    ['empty.docx', zipFile('empty.docx', { 'a.txt': 'x' })],
    ['empty.xlsx', zipFile('empty.xlsx', { 'a.txt': 'x' })],
    ['empty.pptx', zipFile('empty.pptx', { 'a.txt': 'x' })],
    ['empty.epub', zipFile('empty.epub', { 'a.txt': 'x' })],
  ])('is refused if it is a damaged %s', async (filename, file) => {
    await expect(read(file)).rejects.toEqual(documentRefusal('document-unreadable', filename));
  });

  it('is refused before anything is unpacked if it would be too large unpacked', async () => {
    const bomb = {
      filename: 'bomb.docx',
      bytes: zipSync({ 'word/document.xml': new Uint8Array(5_000_000) }, { level: 9 }),
    };
    const tooBig = documentRefusal('document-too-large', 'bomb.docx');
    const path = await onDisk(bomb);
    await expect(checkFile(bomb.filename, path, PARSING_LIMITS)).resolves.toBeUndefined();
    for (const limit of [
      { unpackedBytesMax: 1_000_000 },
      { unpackedRatioMax: 100 },
      { archiveEntriesMax: 0 },
      { fileBytesMax: 100 },
    ]) {
      await expect(checkFile(bomb.filename, path, { ...PARSING_LIMITS, ...limit })).rejects.toEqual(tooBig);
      await expect(read(bomb, { ...PARSING_LIMITS, ...limit })).rejects.toEqual(tooBig);
    }
  });

  it('is refused by the check if its content does not match its name', async () => {
    const wrong = documentRefusal('document-type-not-accepted', 'a.docx');
    await expect(checkFile('a.docx', await onDisk(textFile('a.docx', 'text')), PARSING_LIMITS)).rejects.toEqual(wrong);
  });

  it.each([
    textFile('half.json', '{"a":'),
    textFile('long.json', `no JSON ${'x'.repeat(10_000)}`),
    textFile('broken.pdf', '%PDF-1.4\nnothing of a PDF follows'),
    ...['a.docx', 'a.xlsx', 'a.pptx', 'a.epub'].map((name) => zipFile(name, { 'a.txt': 'a' })),
  ])('is refused by the check if its beginning shows that it is unreadable: $filename', async (file) => {
    const { filename } = file;
    const refused = documentRefusal('document-unreadable', filename);
    await expect(checkFile(filename, await onDisk(file), PARSING_LIMITS)).rejects.toEqual(refused);
  });

  it.each([
    textFile('long.json', JSON.stringify(Array(5_000).fill('é'))),
    textFile('marked.json', '\ufeff {"a": 1}'),
    pdfFile('a.pdf', ['x']),
    wordFile('a.docx', [['text', 'x']]),
    spreadsheetFile('a.xlsx', 'S', [['x']]),
    slidesFile('a.pptx', [{ title: 'a', text: 'b' }]),
    bookFile('a.epub', 'A', ['<p>x</p>']),
  ])('is accepted if it only looks unreadable: $filename', async (file) => {
    await expect(checkFile(file.filename, await onDisk(file), PARSING_LIMITS)).resolves.toBeUndefined();
    await expect(read(file)).resolves.not.toEqual([]);
  });

  it('is refused if it unpacks to more than its directory says', async () => {
    const { bytes } = zipFile('liar.pptx', { 'ppt/presentation.xml': 'x'.repeat(10_000) });
    const directory = Buffer.from(bytes.buffer).indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
    Buffer.from(bytes.buffer).writeUInt32LE(10, directory + 24);
    await expect(read({ filename: 'liar.pptx', bytes })).rejects.toEqual(documentRefusal('document-unreadable', 'liar.pptx'));
  });

  it.each(['nested.json', 'nested.docx', 'nested.xlsx', 'nested.pptx', 'nested.epub'])(
    'is refused if it is nested too deep: %s',
    async (name) => {
      const nested = (depth: number) => nestedFile(name, depth);
      await expect(read(nested(PARSING_LIMITS.depthMax + 1))).rejects.toEqual(documentRefusal('document-too-large', name));
      await expect(read(nested(20))).resolves.toBeDefined();
    },
  );

  it.each([
    ['many.csv', `${'n'.repeat(2_000)}\n${'x\n'.repeat(1_000)}`],
    ['many.json', `{"a": {"${'n'.repeat(2_000)}": [${'1,'.repeat(1_000)}1]}}`],
  ])('is refused if repeated names would yield too much text: %s', async (filename, text) => {
    const file = textFile(filename, text);
    await expect(read(file)).rejects.toEqual(documentRefusal('document-too-large', filename));
    expect(await read(file, { ...PARSING_LIMITS, textCharsPerByteMax: 1_000 })).not.toEqual([]);
    expect(await read(file, { ...PARSING_LIMITS, textCharsMin: 10_000_000 })).not.toEqual([]);
  });

  it('is refused if a tag of a Word document has too many attributes', async () => {
    const attributes = (count: number) => Array.from({ length: count }, (_, index) => ` a${index}=""`).join('');
    const file = (count: number) => wordFile('a.docx', [['text', `x</w:t><w:x${attributes(count)}/><w:t>`]]);
    await expect(read(file(ATTRIBUTES_MAX + 1))).rejects.toEqual(documentRefusal('document-unreadable', 'a.docx'));
    await expect(read(file(ATTRIBUTES_MAX))).resolves.toHaveLength(1);
  });

  it('is refused if repeated reads of an archive exceed the limit of unpacked bytes', async () => {
    const slides = slidesFile('a.pptx', [{ title: 'One', text: 'x'.repeat(3_000) }]);
    const unpackedBytesMax = 6_000;
    await expect(read(slides, { ...PARSING_LIMITS, unpackedBytesMax })).resolves.toHaveLength(1);
    const archive = Archive.open('a.pptx', slides.bytes, { ...PARSING_LIMITS, unpackedBytesMax });
    const readThrice = async () => [1, 2, 3].forEach(() => archive.text('ppt/slides/slide1.xml'));
    await expect(readThrice()).rejects.toEqual(documentRefusal('document-too-large', 'a.pptx'));
  });

  it('is refused if it exceeds a limit of bytes, characters or pages', async () => {
    await expect(read(textFile('a.txt', 'abc'), { ...PARSING_LIMITS, fileBytesMax: 2 })).rejects.toEqual(
      documentRefusal('document-too-large', 'a.txt'),
    );
    await expect(read(textFile('a.txt', 'abc'), { ...PARSING_LIMITS, textCharsMax: 2 })).rejects.toEqual(
      documentRefusal('document-too-large', 'a.txt'),
    );
    await expect(read(pdfFile('a.pdf', ['1', '2']), { ...PARSING_LIMITS, pagesMax: 1 })).rejects.toEqual(
      documentRefusal('document-too-large', 'a.pdf'),
    );
  });
});
