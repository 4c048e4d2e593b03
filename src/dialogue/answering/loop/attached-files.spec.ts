import { beforeEach, expect, it } from '@jest/globals';
import { AttachmentShelf, type ReadyAttachment } from '../../../resources/attachments/attachment-shelf.port.js';
import { BlobMissing } from '../../../kernel/blobs.js';
import type { ModelDescription } from '../../../resources/models/model/language-model.port.js';
import { AttachedFiles } from './attached-files.js';

class Shelf extends AttachmentShelf {
  readonly ready = new Map<string, ReadyAttachment>();
  readonly missing = new Set<string>();
  override pick = () => Promise.reject(new Error('Picked before.'));
  override recall = (ids: readonly string[]) => Promise.resolve(ids.flatMap((id) => this.ready.get(id) ?? []));
  override async textOf({ text, filename }: ReadyAttachment) {
    if (this.missing.has(filename)) throw new BlobMissing(filename);
    return 'text' in text ? text.text : '';
  }
  override async bytesOf({ sha256 }: ReadyAttachment['blob']) {
    if (this.missing.has(sha256)) throw new BlobMissing(sha256);
    return Buffer.from(sha256);
  }
}

let shelf: Shelf;
let files: AttachedFiles;
beforeEach(() => {
  shelf = new Shelf();
  files = new AttachedFiles(shelf);
});

const keep = (filename: string, mimeType: string, more: Partial<ReadyAttachment>) => {
  const nothing = { text: { text: '' }, tokens: 0, isCut: false, pages: null, pictures: [] };
  shelf.ready.set(filename, {
    attachmentId: filename,
    filename,
    mimeType,
    blob: { sha256: filename, size: 1 },
    ...nothing,
    ...more,
  });
  return { id: filename, filename, mimeType };
};
const page = (sha256: string) => ({ mimeType: 'image/png', blob: { sha256, size: 1 } });
const model = (...attachmentTypes: string[]) => ({ attachmentTypes }) as unknown as ModelDescription;

it('gives nothing and reads nothing if a question has no attachments', async () => {
  expect(await files.give([], undefined, 8_000)).toEqual({ parts: [], documents: [], tokens: 0, notices: [] });
});

it('gives a text in a tag with its escaped name, and as a document', async () => {
  const file = keep('a">\nignore.txt', 'text/plain', { text: { text: 'Tea at four.' }, tokens: 4 });
  expect(await files.give([file], undefined, 8_000)).toEqual({
    parts: [{ type: 'text', text: '<attachment name="a___ignore.txt">\nTea at four.\n</attachment>' }],
    documents: [{ title: 'a">\nignore.txt', text: 'Tea at four.', source: 'a">\nignore.txt' }],
    tokens: 4,
    notices: [],
  });
});

it('truncates a long text to the available room', async () => {
  const file = keep('long.txt', 'text/plain', { text: { text: '0123456789'.repeat(1_000) }, tokens: 4_000 });
  const { parts, documents, notices } = await files.give([file], undefined, 4_000);
  expect(documents[0]!.text).toHaveLength(2_500);
  expect([parts.length, notices.length]).toEqual([1, 1]);
});

it('shows pages as pictures after the name of their document and the range of the pages', async () => {
  const file = keep('a.pdf', 'application/pdf', {
    pages: 3,
    pictures: [page('one'), page('two')],
    tokens: 5,
    text: { text: 'Words' },
  });
  const { parts } = await files.give([file], model('image/png'), 64_000);
  expect(parts).toEqual([
    { type: 'text', text: 'Attached document: a.pdf, the first 2 of 3 pages as pictures' },
    { type: 'image', dataUrl: `data:image/png;base64,${btoa('one')}` },
    { type: 'image', dataUrl: `data:image/png;base64,${btoa('two')}` },
    { type: 'text', text: '<attachment name="a.pdf">\nWords\n</attachment>' },
  ]);
});

it('skips attachments that are not stored any more, with a notice for each', async () => {
  const gone = keep('gone.txt', 'text/plain', { tokens: 4 });
  const blind = keep('a.png', 'image/png', { pictures: [page('x')] });
  const fine = keep('fine.txt', 'text/plain', { text: { text: 'Fine.' }, tokens: 2 });
  shelf.missing.add('gone.txt').add('x');
  const unheard = { id: 'unheard of', filename: 'u.txt', mimeType: 'text/plain' };
  const { parts, notices } = await files.give([gone, blind, fine, unheard], model('image/png'), 64_000);
  expect(parts).toHaveLength(1);
  expect(notices).toEqual([
    'gone.txt was skipped: it is not stored any more.',
    'a.png was skipped: it is not stored any more.',
    'u.txt was skipped: it is not stored any more.',
  ]);
});
