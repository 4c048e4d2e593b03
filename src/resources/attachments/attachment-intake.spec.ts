import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { alice } from '../../../test/support/callers.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import type { StagedFile } from '../../platform/blobs/upload-staging.port.js';
import { systemTiming } from '../../platform/system-timing.js';
import { type AttachmentContent, AttachmentReader } from '../documents/attachment-reader.port.js';
import { AttachmentIntake } from './attachment-intake.js';
import { type StoreAttachment, StoreAttachmentHandler } from './attachment.commands.js';

class TextReader extends AttachmentReader {
  override mimeTypeOf = () => Promise.resolve('text/plain');
  override read = (): Promise<AttachmentContent> => Promise.reject(new Error('Nothing is read here.'));
}

const staged = (place: number): StagedFile => ({
  place,
  filename: `${place}.txt`,
  path: '',
  sha256: '',
  size: 1,
  open: () => Readable.from([Buffer.from(String(place))]),
});

it('announces no file before the bytes of all are stored, so that none is read while its upload is unanswered', async () => {
  const done: string[] = [];
  const blobs = new InMemoryBlobs();
  const put = blobs.put.bind(blobs);
  blobs.put = async (bytes) => {
    const stored = await put(bytes);
    done.push('bytes');
    return stored;
  };
  const positions = [7n, 9n, 8n];
  class Handler extends StoreAttachmentHandler {
    override execute({ stored }: StoreAttachment) {
      done.push(stored.filename);
      return Promise.resolve({ position: positions.shift() });
    }
  }
  const files = [0, 1, 2].map(staged);
  const intake = new AttachmentIntake(
    commandsOver(new Handler(new Streams(new InMemoryEventStore(), systemTiming))),
    blobs,
    new TextReader(),
  );
  const { accepted, position } = await intake.accept({ fields: new Map(), files, oversized: [] }, alice);
  expect(done).toEqual(['bytes', 'bytes', 'bytes', '0.txt', '1.txt', '2.txt']);
  expect(accepted.map(({ place }) => place)).toEqual([0, 1, 2]);
  expect(position).toBe(9n);
});
