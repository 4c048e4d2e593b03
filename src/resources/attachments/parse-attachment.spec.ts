import { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { beforeEach, expect, it } from '@jest/globals';
import { commandsOver } from '../../../test/support/commands-over.js';
import { failNextReads } from '../../../test/support/away-store.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { newId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { TaskAttempt } from '../../work/tasks/task-runner.port.js';
import { FailAttachmentHandler, RecordParsedAttachmentHandler } from './attachment.commands.js';
import { attachment, storeAttachment } from './attachment.decider.js';
import { attachmentStream } from './attachment.events.js';
import { TEXT_INLINE_BYTES_MAX } from './attachment.policy.js';
import { type AttachmentContent, AttachmentReader } from '../documents/attachment-reader.port.js';
import { ParseAttachment } from './parse-attachment.js';
import { StoredAttachments } from './stored-attachments.js';
import { systemTiming } from '../../platform/system-timing.js';

const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r', causationId: 'r' } as const;
const nothing: AttachmentContent = { text: '', tokens: 0, isCut: false, pages: null, pictures: [] };

class Reader extends AttachmentReader {
  reads = 0;
  content: AttachmentContent | Rejection = nothing;
  override mimeTypeOf = () => Promise.resolve('text/plain');
  override read(): Promise<AttachmentContent> {
    this.reads++;
    return this.content instanceof Rejection ? Promise.reject(this.content) : Promise.resolve(this.content);
  }
}

let streams: Streams;
let blobs: InMemoryBlobs;
let reader: Reader;
let runner: ParseAttachment;
let shelf: StoredAttachments;
let progressed: number[];
beforeEach(() => {
  streams = new Streams(new InMemoryEventStore(), systemTiming);
  blobs = new InMemoryBlobs();
  reader = new Reader();
  const commands = commandsOver(new RecordParsedAttachmentHandler(streams), new FailAttachmentHandler(streams));
  runner = new ParseAttachment(streams, commands, blobs, reader);
  shelf = new StoredAttachments(streams, blobs);
  progressed = [];
});

async function stored(mimeType = 'text/plain'): Promise<string> {
  const attachmentId = newId();
  const blob = await blobs.put(Readable.from([Buffer.from('the file')]));
  const data = { attachmentId, taskId: newId(), ownerId: 'ann', filename: 'a.txt', mimeType, blob };
  await streams.transact(attachmentStream(attachmentId), attachment, storeAttachment(data), cause);
  return attachmentId;
}
const attempt = (attachmentId: string): TaskAttempt => ({
  taskId: 'task',
  ownerId: 'ann',
  input: { attachmentId },
  attempt: 1,
  cause,
  signal: new AbortController().signal,
  progress: async (percent) => void progressed.push(percent),
});
const pick = async (id: string) => (await shelf.pick([id], ['ann']))[0]!;

it('stores the text of a file, returns the result that clients expect, and parses only once', async () => {
  const id = await stored();
  reader.content = { ...nothing, text: 'Tea.', tokens: 2 };
  const result = { attachment_id: id, filename: 'a.txt', mime_type: 'text/plain' };
  expect(await runner.run(attempt(id))).toEqual(result);
  expect(progressed).toEqual([30, 80]);
  expect(await pick(id)).toMatchObject({ attachmentId: id, text: { text: 'Tea.' }, tokens: 2 });
  expect(await runner.run(attempt(id))).toEqual(result);
  expect(reader.reads).toBe(1);
});

it('gives the text to an answer once the event store is back', async () => {
  const id = await stored();
  reader.content = { ...nothing, text: 'Tea.', tokens: 2 };
  await runner.run(attempt(id));
  failNextReads(streams.store, 3);
  expect(await shelf.recall([id])).toMatchObject([{ attachmentId: id }]);
});

it('stores a long text as a blob', async () => {
  const id = await stored();
  const text = 'é'.repeat(TEXT_INLINE_BYTES_MAX / 2 + 1);
  reader.content = { ...nothing, text, tokens: 9 };
  await runner.run(attempt(id));
  const ready = await pick(id);
  expect(ready.text).toEqual({ blob: { sha256: expect.any(String), size: TEXT_INLINE_BYTES_MAX + 2 } });
  expect(await shelf.textOf(ready)).toBe(text);
});

it('stores pictures as blobs, and reuses the blob of the file if it is the picture', async () => {
  const id = await stored('image/png');
  const page = new Uint8Array(Buffer.from('a page'));
  reader.content = {
    ...nothing,
    pictures: [
      { mimeType: 'image/png', bytes: null },
      { mimeType: 'image/png', bytes: page },
    ],
  };
  await runner.run(attempt(id));
  const ready = await pick(id);
  expect(ready.pictures[0]!.blob).toEqual(ready.blob);
  expect(await textOf(await blobs.get(ready.pictures[1]!.blob.sha256))).toBe('a page');
  expect((await shelf.bytesOf(ready.pictures[1]!.blob)).toString()).toBe('a page');
});

it('fails the task with a refusal, and records the failure after the last attempt', async () => {
  const id = await stored();
  reader.content = new Rejection('document-unreadable', 'a.txt is damaged.');
  await expect(runner.run(attempt(id))).rejects.toMatchObject({ message: 'a.txt is damaged.' });
  await expect(pick(id)).rejects.toMatchObject({ code: 'attachment-not-ready' });
  for (let time = 1; time <= 2; time++) await runner.failed('task', { attachmentId: id }, 'a.txt is damaged.', cause);
  await expect(pick(id)).rejects.toMatchObject({
    code: 'attachment-failed',
    message: expect.stringContaining('a.txt is damaged.') as unknown,
  });
  expect(await shelf.recall([id])).toEqual([]);
});

it('finds attachments only for their owner', async () => {
  const id = await stored();
  await runner.run(attempt(id));
  const refusals = [shelf.pick([id], ['bob']), shelf.pick([newId()], ['bob']), shelf.pick(['x'], ['ann'])];
  for (const refusal of refusals) await expect(refusal).rejects.toMatchObject({ code: 'attachment-not-found' });
  expect(await shelf.pick([id, id], ['bob', 'ann'])).toHaveLength(1);
  await expect(runner.run(attempt(newId()))).rejects.toMatchObject({ code: 'attachment-not-found' });
});
