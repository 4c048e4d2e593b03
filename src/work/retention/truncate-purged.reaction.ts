import { Injectable } from '@nestjs/common';
import { Blobs } from '../../kernel/blobs.js';
import { eachOf } from '../../kernel/each-of.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { Purge } from '../../kernel/event-sourcing/purge.js';
import type { Reaction, ReactionHandlers } from '../../kernel/event-sourcing/reaction.js';
import { Purges } from './purges.js';

/** Deletes the blobs and events that a purge event names. A crash repeats it. */
@Injectable()
export class TruncatePurged implements Reaction {
  readonly name = 'truncate-purged';
  readonly categories: readonly string[];
  readonly codec: Codec;
  readonly on: ReactionHandlers<Recorded>;

  constructor(
    private readonly store: EventStore,
    private readonly blobs: Blobs,
    { all }: Purges,
  ) {
    this.categories = [...new Set(all.map(({ category }) => category))].sort();
    this.codec = Object.assign({}, ...all.map(({ codec }) => codec)) as Codec;
    this.on = Object.fromEntries(all.map((purge) => [purge.type, (event: Recorded) => this.purge(purge, event)]));
  }

  private async purge({ blobsOf, truncated }: Purge, event: Recorded): Promise<void> {
    for (const sha256 of blobsOf?.(event) ?? []) await this.blobs.delete(sha256);
    const truncations = truncated?.(event) ?? [{ stream: event.stream, before: event.revision }];
    await eachOf(truncations, ({ stream, before }) => this.store.setRetention(stream, { truncateBefore: before }));
  }
}
