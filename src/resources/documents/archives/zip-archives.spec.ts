import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { strToU8, type Zippable, zipSync } from 'fflate';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { bookFile } from '../../../../test/support/document-files.js';
import { PARSING_LIMITS } from '../limits.js';
import { type ArchiveLimits, ZipArchives } from './zip-archives.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archives-'));
});
afterAll(() => rm(folder, { recursive: true }));

const blobs = new InMemoryBlobs();
const signal = new AbortController().signal;
const unpacking = (limits: Partial<ArchiveLimits> = {}) =>
  new ZipArchives(blobs, join(folder, 'work'), { ...PARSING_LIMITS, archiveDepthMax: 3, ...limits });

function zipOf(entries: Readonly<Record<string, string | Zippable[string]>>): Uint8Array {
  const files: Zippable = {};
  for (const [name, data] of Object.entries(entries)) files[name] = typeof data === 'string' ? strToU8(data) : data;
  return zipSync(files);
}

/** The result of unpacking an archive with these bytes. */
async function unpacked(bytes: Uint8Array, limits: Partial<ArchiveLimits> = {}, inFolder = '') {
  const archives = unpacking(limits);
  const blob = await blobs.put(Readable.from([Buffer.from(bytes)]));
  return archives.unpack([{ filename: 'docs.zip', ownerId: 'ann', folder: inFolder, ...blob }], signal);
}

async function checked(bytes: Uint8Array, limits: Partial<ArchiveLimits> = {}): Promise<void> {
  const path = join(folder, 'checked.zip');
  await writeFile(path, bytes);
  return unpacking(limits).check('docs.zip', path);
}

/** Changes the byte at offset `at` of each entry in the directory. */
function patched(bytes: Uint8Array, at: number, change: (before: number) => number): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let entry = copy.indexOf('PK\x01\x02'); entry >= 0; entry = copy.indexOf('PK\x01\x02', entry + 4)) {
    copy[entry + at] = change(copy[entry + at]!);
  }
  return copy;
}

const damaged = (bytes: Uint8Array, content: string): Uint8Array => {
  const copy = Buffer.from(bytes);
  const at = copy.indexOf(content);
  copy[at] = copy[at]! ^ 0xff;
  return copy;
};

const stored = (content: string): Zippable[string] => [strToU8(content), { level: 0 }];
const refusal = (code: string, message = '') =>
  expect.objectContaining({ code, message: expect.stringContaining(message) as unknown }) as unknown;

describe('an archive', () => {
  it('is unpacked to its documents, named by their paths', async () => {
    const { files, skipped } = await unpacked(
      zipOf({ 'guide/intro.md': '# Intro', 'guide/deep/prices.csv': 'a,b', 'empty/': '', '__MACOSX/guide/._intro.md': 'x' }),
    );
    expect(files.map(({ filename, archive }) => [filename, archive])).toEqual([
      ['guide/intro.md', 'docs.zip'],
      ['guide/deep/prices.csv', 'docs.zip'],
    ]);
    expect(await text(await blobs.get(files[0]!.sha256))).toBe('# Intro');
    expect(skipped).toEqual([]);
  });

  it('gives its files the folder as prefix and unique names', async () => {
    const { files } = await unpacked(zipOf({ 'a.md': '1', './a.md': '2' }), {}, 'docs/');
    expect(files.map(({ filename }) => filename)).toEqual(['docs/a.md', 'docs/a (2).md']);
  });

  it('inside another is unpacked too, up to the maximum depth', async () => {
    const three = zipOf({ 'c.md': 'C', 'four.zip': zipOf({ 'd.md': 'D' }) });
    const one = zipOf({ 'a.md': 'A', 'in/two.zip': zipOf({ 'b.md': 'B', 'three.zip': three }) });
    const { files, skipped } = await unpacked(one);
    expect(files.map(({ filename }) => filename)).toEqual(['a.md', 'in/two/b.md', 'in/two/three/c.md']);
    expect(skipped).toEqual([{ path: 'docs.zip/in/two.zip/three.zip/four.zip', reason: 'Archives are nested too deep.' }]);
  });

  it('that is itself a document format is not unpacked', async () => {
    const { files } = await unpacked(zipOf({ 'book.epub': bookFile('book.epub', 'Title', ['<p>One.</p>']).bytes }));
    expect(files.map(({ filename }) => filename)).toEqual(['book.epub']);
  });

  it('is unpacked without its unreadable files, which are listed with the reason', async () => {
    const sound = zipOf({
      'a.md': 'A',
      'photo.png': 'png',
      '../escape.md': 'x',
      '/abs.md': 'x',
      'link.md': [strToU8('/etc/passwd'), { os: 3, attrs: (0o120777 << 16) >>> 0 }],
      'broken.md': stored('broken content'),
      'inner.zip': 'no archive',
    });
    const { files, skipped } = await unpacked(damaged(sound, 'broken content'));
    expect(files.map(({ filename }) => filename)).toEqual(['a.md']);
    expect(skipped).toEqual([
      { path: 'docs.zip/photo.png', reason: 'Files of this kind are not accepted.' },
      { path: 'docs.zip/../escape.md', reason: 'Its path leads out of the archive, or is too long.' },
      { path: 'docs.zip//abs.md', reason: 'Its path leads out of the archive, or is too long.' },
      { path: 'docs.zip/link.md', reason: 'It is a link.' },
      { path: 'docs.zip/broken.md', reason: 'It is damaged.' },
      { path: 'docs.zip/inner.zip', reason: 'It cannot be read as an archive.' },
    ]);
  });

  it('leaves no temporary files', async () => {
    await unpacked(zipOf({ 'in.zip': zipOf({ 'a.md': 'A' }) }));
    expect(await readdir(join(folder, 'work'))).toEqual([]);
  });

  it('lists a limited number of files that are not read and counts the others', async () => {
    const pictures = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`${index}.png`, 'x']));
    const { skipped } = await unpacked(zipOf({ 'a.md': 'A', ...pictures }));
    expect([skipped.length, skipped.at(-1)]).toEqual([101, { path: 'Others', reason: '50 more files were not read.' }]);
  });

  it('is cut if it has more files than a source can list', async () => {
    const name = (index: number) => `${'folder/'.repeat(50)}${index}.md`;
    const { files, isCut } = await unpacked(
      zipOf(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [name(index), '']))),
    );
    expect(isCut).toBe(true);
    expect(Buffer.byteLength(JSON.stringify(files))).toBeLessThan(700 * 1024);
    expect(files.length).toBeGreaterThan(1_000);
  });
});

describe('the check of an uploaded archive', () => {
  const encrypted = patched(zipOf({ 'secret.md': 'x' }), 8, (flags) => flags | 1);
  const zeros = 'x'.repeat(2_000_000);
  it.each<readonly [string, Uint8Array, unknown, Partial<ArchiveLimits>]>([
    ['that is not an archive', strToU8('no archive'), refusal('document-unreadable', 'docs.zip'), {}],
    ['that is truncated', zipOf({ 'a.md': 'A'.repeat(99) }).subarray(0, 80), refusal('document-unreadable'), {}],
    [
      'without a document',
      zipOf({ 'a.png': 'x' }),
      refusal('document-unreadable', 'a.png: Files of this kind are not accepted.'),
      {},
    ],
    ['that is empty', zipOf({}), refusal('document-unreadable', 'an archive of documents'), {}],
    ['that is encrypted', encrypted, refusal('document-unreadable', 'secret.md: It is encrypted.'), {}],
    [
      'that is too large unpacked',
      zipOf({ 'a.md': zeros }),
      refusal('document-too-large', '2000000'),
      { unpackedBytesMax: 1_000_000 },
    ],
    ['that is a zip bomb', zipOf({ 'a.md': zeros }), refusal('document-too-large'), { unpackedRatioMax: 100 }],
    [
      'with too many files',
      zipOf({ 'a.md': '', 'b.md': '', 'c.md': '' }),
      refusal('document-too-large'),
      { archiveEntriesMax: 2 },
    ],
    ['if archives are not accepted', zipOf({ 'a.md': '' }), refusal('document-type-not-accepted'), { archiveDepthMax: 0 }],
  ])('refuses an archive %s', async (_, bytes, error, limits) => {
    await expect(checked(bytes, limits)).rejects.toEqual(error);
  });

  it('accepts an archive with one document among other files', async () => {
    await expect(checked(zipOf({ 'a.md': 'A', 'b.png': 'x' }))).resolves.toBeUndefined();
    await expect(checked(zipOf({ 'in.zip': 'x' }))).resolves.toBeUndefined();
  });
});

describe('unpacking an archive', () => {
  it('is refused if nested archives have too many bytes or files together', async () => {
    const bomb = zipOf({ 'a.md': 'x'.repeat(400_000) });
    const nested = zipOf({ '1.zip': bomb, '2.zip': bomb, '3.zip': bomb });
    await expect(unpacked(nested, { unpackedBytesMax: 1_000_000 })).rejects.toEqual(
      refusal('document-too-large', 'docs.zip/3.zip: the archives have more than 1000000 bytes'),
    );
    await expect(unpacked(nested, { archiveEntriesMax: 5 })).rejects.toEqual(refusal('document-too-large', 'more than 5 files'));
  });

  it('is refused if a nested archive is a zip bomb', async () => {
    const bomb = zipOf({ 'a.md': 'x'.repeat(3_000_000) });
    await expect(unpacked(zipOf({ 'a.md': 'A', 'b.zip': bomb }), { unpackedRatioMax: 100 })).rejects.toEqual(
      refusal('document-too-large', 'docs.zip/b.zip'),
    );
  });

  it('skips a file that is larger than the directory says', async () => {
    const lying = patched(zipOf({ 'a.md': 'x'.repeat(70_000) }), 26, () => 0);
    await expect(unpacked(lying)).rejects.toEqual(refusal('document-unreadable', 'a.md: It is damaged.'));
  });

  it('stops when the ingestion is aborted', async () => {
    const blob = await blobs.put(Readable.from([Buffer.from(zipOf({ 'a.md': 'A' }))]));
    const given = { filename: 'docs.zip', ownerId: 'ann', folder: '', ...blob };
    await expect(unpacking().unpack([given], AbortSignal.abort(new Error('Given up.')))).rejects.toThrow('Given up.');
  });
});
