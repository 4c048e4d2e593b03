import { Readable } from 'node:stream';
import { type BlobRef, type Blobs, bytesOf } from '../../kernel/blobs.js';
import type { Commands } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { Streams } from '../../kernel/event-sourcing/streams.js';
import { type TaskAttempt, TaskRunner } from '../../work/tasks/task-runner.port.js';
import { FailAttachment, RecordParsedAttachment } from './attachment.commands.js';
import { attachment, requireStored } from './attachment.decider.js';
import { attachmentStream, type StoredPicture, type StoredText } from './attachment.events.js';
import {
  KEEPING_PERCENT,
  PARSE_ATTACHMENT,
  READ_AT_ONCE_MAX,
  READ_OF_OWNER_MAX,
  READING_PERCENT,
  TEXT_INLINE_BYTES_MAX,
} from './attachment.policy.js';
import type { AttachmentContent, AttachmentReader } from '../documents/attachment-reader.port.js';

/** The result of the task. Clients expect these field names. */
export type ParsingResult = Readonly<{ attachment_id: string; filename: string; mime_type: string }>;

/**
 * Parses an attachment in three steps: it reads the file, stores its text and pictures as blobs, and records the result. After a
 * crash the earlier steps are repeated and yield the same blobs. After the result is recorded nothing is repeated.
 */
export class ParseAttachment extends TaskRunner {
  readonly kind = PARSE_ATTACHMENT;
  override readonly concurrency = READ_AT_ONCE_MAX;
  override readonly perOwnerMax = READ_OF_OWNER_MAX;

  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly blobs: Blobs,
    private readonly reader: AttachmentReader,
  ) {
    super();
  }

  async run({ input, cause, signal, progress }: TaskAttempt): Promise<ParsingResult> {
    const { state } = await this.streams.fold(attachmentStream(attachmentIdIn(input)), attachment);
    const stored = requireStored(state);
    if (!state.parsed) {
      await progress(READING_PERCENT);
      const { ownerId, filename, mimeType, blob } = stored;
      const file = { filename, ownerId, size: blob.size, bytes: () => bytesOf(this.blobs, blob) };
      const content = await this.reader.read(file, mimeType, signal);
      await progress(KEEPING_PERCENT);
      const parsed = { attachmentId: stored.attachmentId, ...(await this.keep(content, stored.blob)) };
      await this.commands.execute(new RecordParsedAttachment(parsed, cause));
    }
    return { attachment_id: stored.attachmentId, filename: stored.filename, mime_type: stored.mimeType };
  }

  override async failed(_: string, input: TaskAttempt['input'], reason: string, cause: Cause): Promise<void> {
    await this.commands.execute(new FailAttachment(attachmentIdIn(input), reason, cause));
  }

  private async keep({ text, tokens, isCut, pages, pictures }: AttachmentContent, original: BlobRef) {
    const kept: StoredPicture[] = [];
    for (const { mimeType, bytes } of pictures) {
      kept.push({ mimeType, blob: bytes ? await this.blobs.put(Readable.from([Buffer.from(bytes)])) : original });
    }
    return { text: await this.keepText(text), tokens, isCut, pages, pictures: kept };
  }

  private async keepText(text: string): Promise<StoredText> {
    const bytes = Buffer.from(text);
    return bytes.length <= TEXT_INLINE_BYTES_MAX ? { text } : { blob: await this.blobs.put(Readable.from([bytes])) };
  }
}

const attachmentIdIn = ({ attachmentId }: TaskAttempt['input']): string => String(attachmentId);
