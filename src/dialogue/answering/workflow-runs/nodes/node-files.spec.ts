import { expect, it } from '@jest/globals';
import type { ArtifactContents } from '../../../../resources/artifacts/artifact-contents.port.js';
import type { AttachmentShelf } from '../../../../resources/attachments/attachment-shelf.port.js';
import { CODE_FILES_BYTES_MAX, NODE_FILES_MAX, NodeFiles } from './node-files.js';
import type { RunDocument } from './run-state.js';

const shelf = {
  recall: async (ids: readonly string[]) => ids.map((id) => ({ filename: `${id}.pdf`, blob: { size: 4 } })),
  bytesOf: async () => Buffer.from('%PDF'),
} as unknown as AttachmentShelf;
const kept: Record<string, Awaited<ReturnType<ArtifactContents['newest']>>> = {
  table: { filename: 'a"<b.csv', mimeType: 'text/csv', content: Buffer.from('1,2') },
  chart: { filename: 'chart.png', mimeType: 'image/png', content: Buffer.from('PNG') },
};
const artifacts: ArtifactContents = { newest: async (id, ownerId) => (ownerId === 'alice' ? kept[id] : undefined) };
const files = new NodeFiles(shelf, artifacts);

const attached = (id: string): RunDocument => ({
  ref: id,
  attachment_id: id,
  filename: `${id}.pdf`,
  mime_type: 'application/pdf',
});
const made = (id: string): RunDocument => ({ artifact_id: id, version: 1, filename: id, mime_type: '' });

it('an agent node gets attachments unchanged, text artifacts as text, and a notice for other artifacts', async () => {
  const { attachments, text, notices } = await files.forAgent(
    [attached('q'), made('table'), made('chart'), made('gone')],
    'alice',
  );
  expect(attachments).toEqual([{ id: 'q', filename: 'q.pdf', mimeType: 'application/pdf' }]);
  expect(text).toBe('\n\n<attachment name="a__b.csv">\n1,2\n</attachment>');
  expect(notices).toEqual(['chart.png was left out: a model is given text of what steps have made.']);
});

it('a node gets at most NODE_FILES_MAX files, with a notice for the others', async () => {
  const many = Array.from({ length: NODE_FILES_MAX + 2 }, (_, at) => attached(`f${at}`));
  const { attachments, notices } = await files.forAgent(many, 'alice');
  expect(attachments).toHaveLength(NODE_FILES_MAX);
  expect(notices).toEqual(['A node takes 5 files; these were left out: f5.pdf, f6.pdf']);
});

it('a code node gets attachments and artifacts, but no artifacts of other owners', async () => {
  const names = async (ownerId: string) => (await files.forCode([attached('q'), made('chart')], ownerId)).map(({ name }) => name);
  expect(await names('alice')).toEqual(['q.pdf', 'chart.png']);
  expect(await names('bob')).toEqual(['q.pdf']);
});

it('a code node gets at most CODE_FILES_BYTES_MAX bytes, of which no more are read', async () => {
  let size = CODE_FILES_BYTES_MAX / 2;
  let read = 0;
  const large = {
    recall: async (ids: readonly string[]) => ids.map((id) => ({ filename: id, blob: { size } })),
    bytesOf: async () => (read++, Buffer.from('x')),
  } as unknown as AttachmentShelf;
  const forCode = (...documents: readonly RunDocument[]) => new NodeFiles(large, artifacts).forCode(documents, 'alice');
  expect(await forCode(attached('a'), attached('b'))).toHaveLength(2);
  await expect(forCode(attached('a'), attached('b'), made('table'))).rejects.toMatchObject({ code: 'code-failed' });
  read = 0;
  size++;
  await expect(forCode(attached('a'), attached('b'))).rejects.toThrow(`more than ${CODE_FILES_BYTES_MAX} bytes`);
  expect(read).toBe(0);
});

it.each(['x', '€'])(
  'an agent node gets the first characters of a long text of %s, of which no more is read',
  async (character) => {
    const content = Buffer.from(`x${character.repeat(400_000)}`);
    const read: number[] = [];
    const stored: ArtifactContents = {
      newest: async (_, __, bytesMax) => {
        read.push(bytesMax);
        return { filename: 'a.txt', mimeType: 'text/plain', content: content.subarray(0, bytesMax) };
      },
    };
    const { text } = await new NodeFiles(shelf, stored).forAgent([made('a')], 'alice');
    expect(text).toBe(`\n\n<attachment name="a.txt">\nx${character.repeat(99_999)}\n</attachment>`);
    expect(read).toEqual([300_003]);
  },
);
