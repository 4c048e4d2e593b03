import { afterEach, expect, it } from '@jest/globals';
import { pdfFile, textFile } from '../../../test/support/document-files.js';
import { eventually } from '../../../test/support/eventually.js';
import { DEFAULT_CHUNKING } from '../../sources/document.port.js';
import type { GuardedProcess } from '../guarded-process/guarded-process.js';
import { GuardedDocuments } from './guarded-documents.js';
import type { ParsingLimits } from './limits.js';

const never = new AbortController().signal;
let documents: GuardedDocuments;
const start = (limits: Partial<ParsingLimits> = {}) => (documents = new GuardedDocuments(limits));
afterEach(() => documents.close());

/** Reading this takes minutes: every tag is looked for among all that are open. */
const endless = () => textFile('endless.html', '<div>'.repeat(3_000_000));

it('reads one document after the other, as sections or as chunks', async () => {
  start();
  const [sections, chunks] = await Promise.all([
    documents.sections(textFile('a.md', '# One\n\nText.'), never),
    documents.chunks(pdfFile('b.pdf', ['Of pages']), DEFAULT_CHUNKING, never),
  ]);
  expect(sections).toEqual([{ title: 'One', text: '# One\n\nText.' }]);
  expect(chunks).toEqual([{ title: 'b', text: 'Of pages', tokens: 2 }]);
});

it('refuses as the parsers do', async () => {
  await expect(start().sections(textFile('a.json', '{'), never)).rejects.toMatchObject({ code: 'document-unreadable' });
});

it('gives up at the deadline, and goes on with the next document', async () => {
  start({ deadlineMs: 6_000 });
  const slow = documents.sections(endless(), never);
  const next = documents.sections(textFile('a.txt', 'text'), never);
  await expect(slow).rejects.toMatchObject({
    code: 'document-too-slow',
    message: expect.stringContaining('endless.html') as unknown,
  });
  await expect(next).resolves.toHaveLength(1);
});

it('gives up when told to, and leaves the process free meanwhile', async () => {
  const controller = new AbortController();
  const slow = start().sections(endless(), controller.signal);
  setTimeout(() => controller.abort(new Error('Enough.')), 300);
  await expect(slow).rejects.toThrow('Enough.');
});

it('survives a document that takes all memory', async () => {
  start({ memoryMegabytesMax: 64 });
  const greedy = textFile('greedy.json', `[${'{"a":[1]},'.repeat(3_000_000)}1]`);
  await expect(documents.sections(greedy, never)).rejects.toMatchObject({ code: 'document-too-large' });
  await expect(documents.sections(textFile('a.txt', 'text'), never)).resolves.toHaveLength(1);
});

it('refuses a document that takes the process with it, and goes on with the next one', async () => {
  start();
  await documents.sections(textFile('a.txt', 'text'), never);
  const { process: guarded } = documents as unknown as { process: GuardedProcess<never, never> };
  const deadly = documents.sections(endless(), never);
  const next = documents.sections(textFile('b.txt', 'text'), never);
  process.kill(guarded.pid!, 'SIGKILL');
  await eventually(() => guarded.waiting === 2);
  await eventually(() => guarded.waiting === 1);
  process.kill(guarded.pid!, 'SIGKILL');
  await expect(deadly).rejects.toMatchObject({ code: 'document-too-large' });
  await expect(next).resolves.toHaveLength(1);
});
