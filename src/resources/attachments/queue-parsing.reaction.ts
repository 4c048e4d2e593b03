import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { TaskQueue } from '../../work/tasks/task-queue.port.js';
import { attachmentCodec } from './attachment.codec.js';
import type { AttachmentStored } from './attachment.events.js';
import { PARSE_ATTACHMENT } from './attachment.policy.js';

/** Queues a task that parses a stored file. After a crash before the checkpoint it queues the task again under the same id. */
@Injectable()
export class QueueParsing implements Reaction<AttachmentStored> {
  readonly name = 'queue-parsing';
  readonly categories = ['attachment'];
  readonly codec: Codec<AttachmentStored> = attachmentCodec;
  readonly on = { AttachmentStored: (event: Recorded<AttachmentStored>) => this.queue(event) };

  constructor(private readonly tasks: TaskQueue) {}

  private queue(event: Recorded<AttachmentStored>): Promise<void> {
    const { taskId, ownerId, attachmentId } = event.data;
    const task = { taskId, kind: PARSE_ATTACHMENT, ownerId, input: { attachmentId } };
    return this.tasks.queue(task, causedBy(event, `system:${this.name}`));
  }
}
