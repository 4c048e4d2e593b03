import { mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { UploadStagingFolder } from './received-upload.js';
import type { FormPart, ReceivedUpload } from '../../platform/blobs/upload-staging.port.js';

let folder: string;
let staging: UploadStagingFolder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'staging-'));
  staging = new UploadStagingFolder(folder, { fileBytesMax: 10, requestBytesMax: 25 });
});
afterEach(() => rm(folder, { recursive: true }));

const part = (filename: string, ...chunks: readonly string[]): FormPart => ({
  type: 'file',
  fieldname: 'file',
  filename,
  file: Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
});
const field = (fieldname: string, value: string): FormPart => ({ type: 'field', fieldname, value });
async function* form(...parts: readonly FormPart[]) {
  yield* parts;
}
const seen = async ({ fields, files, oversized }: ReceivedUpload) => ({
  fields: Object.fromEntries(fields),
  files: await Promise.all(
    files.map(async ({ place, filename, path }) => `${place} ${filename}: ${await readFile(path, 'utf8')}`),
  ),
  oversized: oversized.map(({ place, filename }) => `${place} ${filename}`),
});

it('passes on the fields and files of a form, and removes the files afterwards', async () => {
  const parts = [field('name', 'n'), part('/folder/a.txt', 'on', 'e'), part('a.txt', 'two'), part('')];
  expect(await staging.receive(form(...parts), seen)).toEqual({
    fields: { name: 'n' },
    files: ['0 a.txt: one', '1 a (2).txt: two'],
    oversized: [],
  });
  expect(await readdir(folder)).toEqual([]);
});

it('cuts a long file name at its beginning, between characters', async () => {
  const names = ['md', 'txt'].map((ending) => `${'\u{1F600}'.repeat(200)}.${ending}`);
  const { files } = await staging.receive(form(...names.map((name) => part(name, 'x'))), seen);
  expect(files.map((file) => file.slice(2))).toEqual([
    `${'\u{1F600}'.repeat(126)}.md: x`,
    `\uFFFD${'\u{1F600}'.repeat(125)}.txt: x`,
  ]);
});

it('skips a file that is too large if files are received one by one, and refuses the form otherwise', async () => {
  const parts = () => form(part('a.txt', 'x'.repeat(6), 'x'.repeat(5)), part('/', 'one'), part('a.txt', 'two'));
  expect(await staging.receive(parts(), seen, 'one-by-one')).toMatchObject({
    files: ['1 file: one', '2 a.txt: two'],
    oversized: ['0 a.txt'],
  });
  await expect(staging.receive(parts(), seen)).rejects.toMatchObject({ code: 'too-large' });
  expect(await readdir(folder)).toEqual([]);
});

it.each(['as-one', 'one-by-one'] as const)('refuses a request over the limit, with its files received %s', async (files) => {
  const parts = form(part('a', 'x'.repeat(10)), part('b', 'x'.repeat(10)), part('c', 'x'.repeat(6)));
  await expect(staging.receive(parts, seen, files)).rejects.toMatchObject({ code: 'too-large' });
  expect(await readdir(folder)).toEqual([]);
});

it('counts skipped parts towards the limit of the request', async () => {
  const unasked = (size: number) => ({ ...part('a', 'x'.repeat(size)), fieldname: 'other' }) as FormPart;
  for (const parts of [[unasked(26)], [unasked(20), part('b', 'x'.repeat(6))], [part('b', 'x'.repeat(6)), unasked(20)]]) {
    await expect(staging.receive(form(...parts), seen)).rejects.toMatchObject({ code: 'too-large' });
  }
  const large = part('a', ...Array.from({ length: 26 }, () => 'x'));
  const message = 'Request exceeds the 25-byte upload limit';
  await expect(staging.receive(form(large), seen, 'one-by-one')).rejects.toMatchObject({ message });
});

it('leaves no files of an incomplete form or of a refused one', async () => {
  let reads = 0;
  const broken = new Readable({
    read() {
      if (reads++ === 0) this.push('half');
      else this.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }));
    },
  });
  const parts = form(part('a', 'one'), { type: 'file', fieldname: 'file', filename: 'b', file: broken });
  await expect(staging.receive(parts, seen)).rejects.toMatchObject({ code: 'invalid-request' });
  await expect(staging.receive(form(part('a', 'one')), () => Promise.reject(new Error('No.')))).rejects.toThrow('No.');
  expect(await readdir(folder)).toEqual([]);
});

it('removes old folders that a killed process left, and no young ones', async () => {
  const hours = (count: number) => new Date(Date.now() - count * 60 * 60 * 1000);
  const [old, young] = [await mkdtemp(join(folder, 'upload-')), await mkdtemp(join(folder, 'upload-'))];
  await utimes(old, hours(2), hours(2));
  await staging.removeAbandoned(new Date());
  expect(await readdir(folder)).toEqual([young.slice(folder.length + 1)]);
});

it.each([
  ['a value', field('name', 'caf\uFFFD'), 'name'],
  ['a name', field('n\uFFFD', 'x'), 'n\uFFFD'],
])('refuses a form field in which %s is not UTF-8, and leaves no files', async (_, wrong, name) => {
  const refused = { code: 'invalid-request', message: `The form field ${JSON.stringify(name)} is not valid UTF-8.` };
  await expect(staging.receive(form(part('a.txt', 'one'), wrong), seen)).rejects.toMatchObject(refused);
  expect(await readdir(folder)).toEqual([]);
});
