import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import { type Codec, decode } from '../../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../../kernel/event-sourcing/event-store.js';
import { causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { PurgeSourceChunks } from './chunks.commands.js';
import { leftChunks } from './left-chunks.policy.js';
import { sourceCodec } from '../source/source.codec.js';
import type { SourceDeleted, SourceEvent, SourceIngestCompleted, SourceIngestFailed } from '../source/source.events.js';

type Over = SourceIngestCompleted | SourceIngestFailed | SourceDeleted;

/**
 * Purges chunks that no search reads any more. Steps: wait until the read model has the event; find the chunks of the source that
 * it made obsolete; append a purge event for each. After a crash the missing purge events are appended. Chunks of which nothing
 * is written yet are purged too, so that the append of a worker that is still writing them fails.
 */
@Injectable()
export class PurgeChunks implements Reaction<Over> {
  readonly name = 'purge-chunks';
  readonly categories = ['source'];
  readonly codec: Codec<Over> = sourceCodec;
  readonly on = {
    SourceIngestCompleted: (event: Recorded<SourceIngestCompleted>) => this.purgeLeft(event),
    SourceIngestFailed: (event: Recorded<SourceIngestFailed>) => this.purgeLeft(event),
    SourceDeleted: (event: Recorded<SourceDeleted>) => this.purgeLeft(event),
  };

  constructor(
    private readonly store: EventStore,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
  ) {}

  private async purgeLeft(event: Recorded<Over>): Promise<void> {
    await requireReached(this.freshness, ['chunks'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    for (const chunksId of leftChunks(await this.upTo(event)))
      await this.commands.execute(new PurgeSourceChunks(chunksId, event.data.sourceId, cause));
  }

  private async upTo({ stream, revision }: Recorded<Over>): Promise<readonly SourceEvent[]> {
    const events: SourceEvent[] = [];
    for await (const page of this.store.read(stream)) {
      events.push(...page.flatMap((stored) => (stored.revision <= revision && decode<SourceEvent>(sourceCodec, stored)) || []));
    }
    return events;
  }
}
