import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { attachment, failAttachment, parseAttachment, storeAttachment } from './attachment.decider.js';
import { type AttachmentParsed, type AttachmentStored, attachmentStream } from './attachment.events.js';

/** Stores an attachment whose bytes are already a blob. The caller chooses the ids, so the command can be repeated. */
export class StoreAttachment extends Command<{ position: bigint | undefined }> {
  constructor(
    readonly stored: AttachmentStored['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(StoreAttachment)
export class StoreAttachmentHandler implements Handler<StoreAttachment> {
  constructor(private readonly streams: Streams) {}

  async execute({ stored, cause }: StoreAttachment): Promise<{ position: bigint | undefined }> {
    const stream = attachmentStream(stored.attachmentId);
    const { position } = await this.streams.transact(stream, attachment, storeAttachment(stored), cause);
    return { position };
  }
}

/** Records the text and the pictures of an attachment. */
export class RecordParsedAttachment extends Command {
  constructor(
    readonly parsed: AttachmentParsed['data'],
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(RecordParsedAttachment)
export class RecordParsedAttachmentHandler implements Handler<RecordParsedAttachment> {
  constructor(private readonly streams: Streams) {}

  async execute({ parsed, cause }: RecordParsedAttachment): Promise<void> {
    await this.streams.record(attachmentStream(parsed.attachmentId), attachment, parseAttachment(parsed), cause);
  }
}

/** Records that an attachment could not be parsed. */
export class FailAttachment extends Command {
  constructor(
    readonly attachmentId: string,
    readonly reason: string,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(FailAttachment)
export class FailAttachmentHandler implements Handler<FailAttachment> {
  constructor(private readonly streams: Streams) {}

  async execute({ attachmentId, reason, cause }: FailAttachment): Promise<void> {
    await this.streams.record(attachmentStream(attachmentId), attachment, failAttachment(attachmentId, reason), cause);
  }
}
