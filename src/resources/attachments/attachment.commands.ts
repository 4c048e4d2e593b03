import { CommandHandler } from '@nestjs/cqrs';
import { Command, type Handler } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { attachment, storeAttachment } from './attachment.decider.js';
import { type AttachmentStored, attachmentStream } from './attachment.events.js';

/** Keeps a file, whose bytes are a blob already, to be attached to questions. The ids are chosen before, so it may be sent again. */
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
