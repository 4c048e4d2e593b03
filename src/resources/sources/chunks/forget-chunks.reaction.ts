import { Injectable } from '@nestjs/common';
import { type Codec, decode } from '../../../kernel/event-sourcing/codec.js';
import { EventStore, lastEvent } from '../../../kernel/event-sourcing/event-store.js';
import { type Cause, causedBy, type Recorded } from '../../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../../kernel/event-sourcing/reaction.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { leftChunks } from './left-chunks.policy.js';
import { chunksCodec, sourceCodec } from '../source/source.codec.js';
import {
  chunksStream,
  type SourceChunksForgotten,
  type SourceDeleted,
  type SourceEvent,
  type SourceIngestCompleted,
  type SourceIngestFailed,
} from '../source/source.events.js';

type Over = SourceIngestCompleted | SourceIngestFailed | SourceDeleted;

/**
 * Chunks that nobody searches any more are forgotten. Steps: wait until searches go by the event; find which of its source's
 * chunks it left behind; state of each that it is forgotten. A crash in between repeats it for those of which it is not stated.
 * It is stated also of those of which nothing is written yet: whoever still writes them loses that append.
 */
@Injectable()
export class ForgetChunks implements Reaction<Over> {
  readonly name = 'forget-chunks';
  readonly categories = ['source'];
  readonly codec: Codec<Over> = sourceCodec;
  readonly on = {
    SourceIngestCompleted: (event: Recorded<SourceIngestCompleted>) => this.forgetLeft(event),
    SourceIngestFailed: (event: Recorded<SourceIngestFailed>) => this.forgetLeft(event),
    SourceDeleted: (event: Recorded<SourceDeleted>) => this.forgetLeft(event),
  };

  constructor(
    private readonly store: EventStore,
    private readonly streams: Streams,
    private readonly freshness: Freshness,
  ) {}

  private async forgetLeft(event: Recorded<Over>): Promise<void> {
    await requireReached(this.freshness, ['chunks'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    for (const chunksId of leftChunks(await this.upTo(event))) await this.forget(chunksId, event.data.sourceId, cause);
  }

  private async upTo({ stream, revision }: Recorded<Over>): Promise<readonly SourceEvent[]> {
    const events: SourceEvent[] = [];
    for await (const page of this.store.read(stream)) {
      events.push(...page.flatMap((stored) => (stored.revision <= revision && decode<SourceEvent>(sourceCodec, stored)) || []));
    }
    return events;
  }

  private async forget(chunksId: string, sourceId: string, cause: Cause): Promise<void> {
    const stream = chunksStream(chunksId);
    await this.streams.race(stream, async () => {
      const last = await lastEvent(this.store, stream);
      if (last?.type === ('SourceChunksForgotten' satisfies SourceChunksForgotten['type'])) return;
      const forgotten: SourceChunksForgotten = { type: 'SourceChunksForgotten', data: { chunksId, sourceId } };
      await this.streams.append(stream, last?.revision ?? 'none', chunksCodec, [forgotten], cause);
    });
  }
}
