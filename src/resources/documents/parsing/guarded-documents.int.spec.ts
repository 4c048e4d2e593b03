import { afterEach, describe, expect, it } from '@jest/globals';
import { endlessPdf, pdfFile, textFile, waitingFile } from '../../../../test/support/document-files.js';
import { eventually } from '../../../../test/support/eventually.js';
import type { ScriptedDocument } from '../../../../test/support/scripted-parser.js';
import { DocumentsBusy, type WaitingDocument } from '../document.port.js';
import type { GuardedProcess } from '../../../platform/sandbox/guarded-process.js';
import { GuardedDocuments } from './guarded-documents.js';
import { deadlineMsOf, PARSING_LIMITS, type ParsingLimits } from '../limits.js';
import { STOP_MS_MAX } from './parsing-threads.js';

const SCRIPTED = new URL('../../../../test/support/scripted-parser.js', import.meta.url).href;
/** The deadline of documents that never end. */
const ENDS_MS = 6_000;
const never = new AbortController().signal;

let documents: GuardedDocuments;
const start = (limits: Partial<ParsingLimits> = {}) => (documents = new GuardedDocuments(limits));
/** Documents whose text scripts the parser's behaviour, with short turns. */
const startScripted = (limits: Partial<ParsingLimits> = {}) =>
  (documents = new GuardedDocuments({ shortTurnMs: 300, deadlineMsMin: ENDS_MS, ...limits }, { entry: SCRIPTED }));
afterEach(() => documents.close());

const scripted = (text: ScriptedDocument | 'text', ownerId = 'ann', filename = `${text}.txt`): WaitingDocument =>
  waitingFile(textFile(filename, text), ownerId);
const processes = () => documents as unknown as Record<'short' | 'long', GuardedProcess<never, never>>;

it('reads documents as sections or as chunks', async () => {
  start();
  const [sections, chunks] = await Promise.all([
    documents.sections(waitingFile(textFile('a.md', '# One\n\nText.')), never),
    documents.chunks(waitingFile(pdfFile('b.pdf', ['Of pages'])), { maxTokens: 1250, minTokens: 150 }, never),
  ]);
  expect(sections).toEqual([{ title: 'One', text: '# One\n\nText.' }]);
  expect(chunks).toEqual([{ title: 'b', text: 'Of pages', tokens: 2 }]);
});

it('passes on the refusal of a parser', async () => {
  const broken = waitingFile(textFile('a.json', '{'));
  await expect(start().sections(broken, never)).rejects.toMatchObject({ code: 'document-unreadable' });
});

it('refuses a document that overflows the stack of a recursive parser', async () => {
  const deep = waitingFile(textFile('a.json', '['.repeat(100_000)));
  await expect(start({ depthMax: 1_000_000 }).sections(deep, never)).rejects.toMatchObject({ code: 'document-unreadable' });
  const closed = waitingFile(textFile('a.json', '['.repeat(100_000) + ']'.repeat(100_000)));
  await expect(documents.sections(closed, never)).rejects.toMatchObject({ code: 'document-too-large' });
});

describe('a document whose parsing does not end', () => {
  it('is refused at its deadline with a message that names the time limit', async () => {
    startScripted();
    const slow = documents.sections(scripted('endless'), never);
    await expect(slow).rejects.toMatchObject({
      code: 'document-too-slow',
      message: expect.stringMatching(/^endless\.txt .* 6 seconds/) as unknown,
    });
  });

  it('does not block small documents of its owner or of others', async () => {
    startScripted({ deadlineMsMin: 600_000, deadlineMsMax: 600_000 });
    const over = new AbortController();
    const endless = Array.from({ length: 3 }, () => documents.sections(scripted('endless'), over.signal).catch(() => 'given up'));
    await expect(documents.sections(scripted('text', 'bob'), never)).resolves.toHaveLength(1);
    await expect(documents.sections(scripted('text', 'ann'), never)).resolves.toHaveLength(1);
    over.abort(new Error('Enough.'));
    expect(await Promise.all(endless)).toEqual(Array(3).fill('given up'));
  });

  it('is stopped with its process if a native call does not return, without an effect on other documents', async () => {
    startScripted({ deadlineMsMin: 1_000, shortTurnMs: 1_000 });
    const stuck = documents.sections(scripted('stuck'), never);
    const next = documents.sections(scripted('text', 'bob'), never);
    await expect(next).resolves.toHaveLength(1);
    await expect(stuck).rejects.toMatchObject({ code: 'document-too-slow' });
    await expect(documents.sections(scripted('text'), never)).resolves.toHaveLength(1);
  });

  it('is stopped when the caller aborts', async () => {
    const controller = new AbortController();
    const slow = startScripted({ deadlineMsMin: 600_000, deadlineMsMax: 600_000 }).sections(
      scripted('endless'),
      controller.signal,
    );
    await eventually(() => processes().long.pid !== undefined);
    controller.abort(new Error('Enough.'));
    await expect(slow).rejects.toThrow('Enough.');
  });
});

it('skips the short turn for a large document', async () => {
  startScripted({ shortTurnBytesMax: 3 });
  await expect(documents.sections(scripted('text'), never)).resolves.toHaveLength(1);
  expect([processes().short.pid, typeof processes().long.pid]).toEqual([undefined, 'number']);
});

it('postpones a document when the queue of long turns is full', async () => {
  startScripted({ shortTurnBytesMax: 3, longTurnsWaitingMax: 1, deadlineMsMin: 600_000, deadlineMsMax: 600_000 });
  const over = new AbortController();
  const endless = [1, 2].map(() => documents.sections(scripted('endless'), over.signal).catch(() => undefined));
  await expect(documents.sections(scripted('text', 'bob'), never)).rejects.toThrow(DocumentsBusy);
  over.abort(new Error('Enough.'));
  await Promise.all(endless);
});

it('loads the bytes of a document when its turn begins, once per turn', async () => {
  startScripted({ deadlineMsMin: 600_000, deadlineMsMax: 600_000 });
  const over = new AbortController();
  const asked: string[] = [];
  const noting = (file: WaitingDocument): WaitingDocument => ({
    ...file,
    bytes: () => {
      asked.push(file.filename);
      return file.bytes();
    },
  });
  const first = documents.sections(noting(scripted('endless', 'ann', '1')), over.signal).catch(() => undefined);
  const second = documents.sections(noting(scripted('text', 'ann', '2')), never);
  expect(asked).toEqual(['1']);
  await second;
  await eventually(() => asked.length === 3);
  expect(asked.toSorted()).toEqual(['1', '1', '2']);
  over.abort(new Error('Enough.'));
  await first;
});

it.each(['greedy', 'hoarding'] as const)('survives a document that uses up all memory: %s', async (text) => {
  const limits = { memoryMegabytesMax: 64, shortTurnMemoryMegabytesMax: 64, besideHeapMegabytesMax: 400 };
  startScripted({ ...limits, shortTurnMs: 60_000, deadlineMsMin: 60_000 });
  await expect(documents.sections(scripted(text), never)).rejects.toMatchObject({ code: 'document-too-large' });
  await expect(documents.sections(scripted('text'), never)).resolves.toHaveLength(1);
});

it('stops a PDF that would take years to draw at its deadline', async () => {
  start({ shortTurnMs: 300, deadlineMsMin: ENDS_MS });
  await expect(documents.sections(waitingFile(endlessPdf('a.pdf')), never)).rejects.toMatchObject({ code: 'document-too-slow' });
  await expect(documents.sections(waitingFile(textFile('b.txt', 'text')), never)).resolves.toHaveLength(1);
});

it('refuses a document that crashes the process and continues with the next', async () => {
  startScripted();
  const deadly = documents.sections(scripted('deadly'), never);
  const next = documents.sections(scripted('text', 'bob'), never);
  await expect(next).resolves.toHaveLength(1);
  await expect(deadly).rejects.toMatchObject({ code: 'document-too-large' });
});

describe('the deadline', () => {
  it('of a long turn depends on the size', () => {
    const megabytes = [0, 0.01, 1, 5, 100].map((size) => deadlineMsOf(size * 1024 * 1024, PARSING_LIMITS));
    expect(megabytes).toEqual([20_000, 20_100, 30_000, 70_000, 120_000]);
  });

  it('of a short turn lets a small document wait for three others for at most five seconds', () => {
    expect(3 * (PARSING_LIMITS.shortTurnMs + STOP_MS_MAX)).toBeLessThanOrEqual(5_000);
  });
});
