import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadImage, createCanvas } from '@napi-rs/canvas';
import { zipSync } from 'fflate';
import { pdfFile, spreadsheetFile, textFile, waitingFile, wordFile, zipFile } from '../../../../test/support/document-files.js';
import { boastfulPngFile, gifFile, jpegFile, pngFile, webpFile } from '../../../../test/support/picture-files.js';
import type { DocumentFile } from '../document.port.js';
import { GuardedDocuments } from './guarded-documents.js';
import { PARSING_LIMITS } from '../limits.js';
import { readAttachment } from './read-attachment.js';
import {
  PAGE_EDGE_PIXELS,
  PICTURE_BYTES_MAX,
  PICTURE_EDGE_PIXELS_MAX,
  PICTURED_PAGES_MAX,
  TEXT_TOKENS_MAX,
} from '../readable-files.policy.js';

const never = new AbortController().signal;
const threads = new GuardedDocuments({ unpackedRatioMax: 100 });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attachments-'));
});
afterAll(() => Promise.all([rm(folder, { recursive: true }), threads.close()]));

async function mimeTypeOf({ filename, bytes }: DocumentFile): Promise<string> {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  return threads.mimeTypeOf(filename, path);
}

const bytesFile = (filename: string, ...bytes: number[]): DocumentFile => ({ filename, bytes: new Uint8Array(bytes) });
const refusal = (code: string, file: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(file) as unknown });

describe('the type of an attached file', () => {
  it.each([
    ['image/png', pngFile('a.png')],
    ['image/png', pngFile('called.jpg')],
    ['image/jpeg', jpegFile('a.jpg')],
    ['image/webp', webpFile('a.webp')],
    ['image/gif', gifFile('a.gif')],
    ['application/pdf', pdfFile('a.pdf', ['x'])],
    ['application/pdf', pdfFile('no ending', ['x'])],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', wordFile('a.docx', [['text', 'x']])],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', spreadsheetFile('a.xlsx', 'S', [['x']])],
    ['text/csv', textFile('a.csv', 'a,b')],
    ['text/markdown', textFile('a.MD', '# A')],
    ['application/json', textFile('a.json', '{}')],
    ['text/plain', textFile('program.py', 'print("é")')],
    ['text/plain', textFile('no ending', 'text')],
    ['text/plain', textFile('BM.txt', 'BM begins a picture')],
    ['text/plain', bytesFile('older.txt', 0x63, 0x61, 0x66, 0xe9)],
  ])('is detected as %s by its content', async (mimeType, file) => expect(await mimeTypeOf(file)).toBe(mimeType));

  it.each([
    ['unknown bytes', bytesFile('a.bin', 0, 1, 2, 3)],
    ['a program', bytesFile('a.exe', 0x4d, 0x5a, 0x90, 0, 3, 0, 0, 0)],
    ['text in an undeclared encoding', bytesFile('cafe.log', 0x63, 0x61, 0x66, 0xe9)],
    ['an archive', { filename: 'a.zip', bytes: zipSync({ a: new Uint8Array(5) }) }],
    ['another file named as a picture', bytesFile('a.png', 0, 1, 2, 3)],
  ])('is refused: %s', (_, file) =>
    expect(mimeTypeOf(file)).rejects.toEqual(refusal('document-type-not-accepted', file.filename)),
  );

  it('is refused if the file is empty', () =>
    expect(mimeTypeOf(textFile('empty.txt', ''))).rejects.toEqual(refusal('document-unreadable', 'empty.txt')));

  it.each([
    textFile('blank.txt', ' \n\t'),
    textFile('half.json', '{"a":'),
    textFile('long.json', `no JSON ${'x'.repeat(10_000)}`),
    textFile('broken.pdf', '%PDF-1.4 nothing else'),
    zipFile('other.docx', { 'a.txt': 'a' }),
    { ...pngFile('half.png'), bytes: pngFile('half.png').bytes.slice(0, -8) },
  ])('is refused if its beginning shows that it is unreadable: $filename', (file) =>
    expect(mimeTypeOf(file)).rejects.toEqual(refusal('document-unreadable', file.filename)),
  );

  it('is refused if it is a picture with too many pixels', () =>
    expect(mimeTypeOf(boastfulPngFile('a.png', 60_000, 60_000))).rejects.toEqual(refusal('document-too-large', 'a.png')));

  it('is refused if it would be too large unpacked', () =>
    expect(mimeTypeOf({ filename: 'bomb.docx', bytes: zipSync({ a: new Uint8Array(5_000_000) }, { level: 9 }) })).rejects.toEqual(
      refusal('document-too-large', 'bomb.docx'),
    ));
});

describe('an attached picture', () => {
  it.each([
    ['image/png', pngFile('a')],
    ['image/jpeg', jpegFile('a')],
    ['image/webp', webpFile('a')],
    ['image/gif', gifFile('a')],
  ])('of %s is returned as it is, and refused if it is truncated', async (mimeType, file) => {
    const nothing = { text: '', tokens: 0, isCut: false, pages: null };
    expect(await readAttachment(file, mimeType, PARSING_LIMITS)).toEqual({ ...nothing, pictures: [{ mimeType, bytes: null }] });
    const half = { filename: 'half', bytes: file.bytes.slice(0, file.bytes.length - 8) };
    await expect(readAttachment(half, mimeType, PARSING_LIMITS)).rejects.toEqual(refusal('document-unreadable', 'half'));
  });

  it('of PNG with corrupted pixels is refused', async () => {
    const { bytes } = pngFile('a.png');
    bytes[bytes.length - 20]! ^= 1;
    await expect(readAttachment({ filename: 'a.png', bytes }, 'image/png', PARSING_LIMITS)).rejects.toEqual(
      refusal('document-unreadable', 'a.png'),
    );
  });

  it('with too many pixels is refused before it is decoded', () =>
    expect(readAttachment(boastfulPngFile('a.png', 60_000, 60_000), 'image/png', PARSING_LIMITS)).rejects.toEqual(
      refusal('document-too-large', 'a.png'),
    ));

  it('with more bytes than providers accept is shrunk', async () => {
    const file = pngFile('noise.png', 2_400, 1_200, { noise: true });
    expect(file.bytes.length).toBeGreaterThan(PICTURE_BYTES_MAX);
    const [picture] = (await readAttachment(file, 'image/png', PARSING_LIMITS)).pictures;
    expect(picture!.bytes!.length).toBeLessThanOrEqual(PICTURE_BYTES_MAX);
    const { width, height } = await loadImage(picture!.bytes!);
    expect(width).toBeLessThanOrEqual(PICTURE_EDGE_PIXELS_MAX);
    expect(Math.round(width / height)).toBe(2);
  });
});

describe('an attached document', () => {
  it('of PDF yields its text and its pages as pictures', async () => {
    const read = await threads.read(
      waitingFile(pdfFile('a.pdf', ['The first page', 'The second page'])),
      'application/pdf',
      never,
    );
    expect(read).toMatchObject({ text: 'The first page\n\nThe second page', isCut: false, pages: 2 });
    expect(read.pictures.map(({ mimeType }) => mimeType)).toEqual(['image/png', 'image/png']);
    const page = await loadImage(Buffer.from(read.pictures[0]!.bytes!));
    expect(Math.max(page.width, page.height)).toBe(PAGE_EDGE_PIXELS);
    const canvas = createCanvas(page.width, page.height);
    canvas.getContext('2d').drawImage(page, 0, 0);
    const pixels = canvas.getContext('2d').getImageData(0, 0, page.width, page.height).data;
    const dark = pixels.reduce((count, value, at) => (at % 4 === 0 && value < 100 ? count + 1 : count), 0);
    expect(dark).toBeGreaterThan(100);
  });

  it('yields pictures of the first pages only', async () => {
    const pages = Array.from({ length: PICTURED_PAGES_MAX + 2 }, (_, index) => `Page ${index}`);
    const read = await threads.read(waitingFile(pdfFile('long.pdf', pages, 40)), 'application/pdf', never);
    expect([read.pages, read.pictures.length]).toEqual([PICTURED_PAGES_MAX + 2, PICTURED_PAGES_MAX]);
  });

  it('of another kind yields its text', async () => {
    expect(await threads.read(waitingFile(textFile('a.py', 'print(1)')), 'text/plain', never)).toEqual({
      text: 'print(1)',
      tokens: 4,
      isCut: false,
      pages: null,
      pictures: [],
    });
    const word = wordFile('a.docx', [['text', 'Tea at four.']]);
    expect(
      await threads.read(waitingFile(word), 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', never),
    ).toMatchObject({ text: 'Tea at four.' });
  });

  it('that is damaged or empty is refused with its filename', async () => {
    for (const [file, mimeType] of [
      [textFile('broken.json', '{"a":'), 'application/json'],
      [textFile('broken.pdf', '%PDF-1.4 nothing else'), 'application/pdf'],
      [textFile('empty.txt', ' \n'), 'text/plain'],
    ] as const) {
      await expect(threads.read(waitingFile(file), mimeType, never)).rejects.toEqual(
        refusal('document-unreadable', file.filename),
      );
    }
  });

  it('is cut at the limits, and marked as cut', async () => {
    const rows = textFile('a.csv', `n,m\n${'1,2\n'.repeat(100)}`);
    const limits = { ...PARSING_LIMITS, attachmentTextBytesMax: 50 };
    const csv = await readAttachment(rows, 'text/csv', limits);
    expect([csv.isCut, csv.text.split('\n').length, csv.text.endsWith('n: 1, m: 2')]).toEqual([true, 11, true]);
    const json = textFile('a.json', `{"a": "${'x'.repeat(100)}"}`);
    expect(await readAttachment(json, 'application/json', limits)).toMatchObject({
      isCut: true,
      text: `{"a": "${'x'.repeat(43)}`,
    });
    const accents = await readAttachment(textFile('a.txt', `x${'é'.repeat(50)}`), 'text/plain', limits);
    expect(accents.text).toBe(`x${'é'.repeat(24)}`);
    const long = await readAttachment(
      textFile('a.txt', 'one two three four five\n'.repeat(30_000)),
      'text/plain',
      PARSING_LIMITS,
    );
    expect(long.isCut).toBe(true);
    expect(long.tokens).toBeLessThanOrEqual(TEXT_TOKENS_MAX);
    expect(long.tokens).toBeGreaterThan(TEXT_TOKENS_MAX - 100);
  });
});
