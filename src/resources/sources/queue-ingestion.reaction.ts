import { Injectable } from '@nestjs/common';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { TaskQueue } from '../../work/tasks/task-queue.port.js';
import { INGEST_SOURCE } from './ingest-source.js';
import { sourceCodec } from './source/source.codec.js';
import type { SourceIngestRequested } from './source/source.events.js';

/** Queues a task for a requested ingestion. After a crash before the checkpoint it queues the task again under the same id. */
@Injectable()
export class QueueIngestion implements Reaction<SourceIngestRequested> {
  readonly name = 'queue-ingestion';
  readonly categories = ['source'];
  readonly codec: Codec<SourceIngestRequested> = sourceCodec;
  readonly on = { SourceIngestRequested: (event: Recorded<SourceIngestRequested>) => this.queue(event) };

  constructor(private readonly tasks: TaskQueue) {}

  private queue(event: Recorded<SourceIngestRequested>): Promise<void> {
    const { ingestId, ownerId, sourceId } = event.data;
    const task = { taskId: ingestId, kind: INGEST_SOURCE, ownerId, input: { sourceId } };
    return this.tasks.queue(task, causedBy(event, `system:${this.name}`));
  }
}
