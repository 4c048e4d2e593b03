import { Injectable } from '@nestjs/common';
import { runCodec } from '../../background/runs/run.codec.js';
import { type RunPurged, runStream } from '../../background/runs/run.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { deliveryCodec } from './delivery.codec.js';
import type { DeliveryAccepted } from './delivery.events.js';

/**
 * Truncates the stream of a delivery after its run was purged. Steps: read the stream from its start; truncate it before the
 * first delivery whose run is not purged. A crash in between repeats both, which is harmless because a truncation is never
 * undone.
 */
@Injectable()
export class TruncateDeliveries implements Reaction<RunPurged> {
  readonly name = 'truncate-deliveries';
  readonly categories = ['run'];
  readonly codec: Codec<RunPurged> = runCodec;
  readonly on = { RunPurged: (event: Recorded<RunPurged>) => this.cut(event) };

  constructor(private readonly store: EventStore) {}

  /** Deliveries under one key share a stream, so a later one may still be needed. */
  private async cut({ data: { delivery } }: Recorded<RunPurged>): Promise<void> {
    if (!delivery) return;
    for await (const page of this.store.read(delivery.stream)) {
      for (const { revision, type, data } of page) {
        if (type in deliveryCodec) {
          const { taskId } = JSON.parse(data) as DeliveryAccepted['data'];
          if (!(await this.isPurged(taskId))) return;
        }
        await this.store.setRetention(delivery.stream, { truncateBefore: revision + 1 });
      }
    }
  }

  private async isPurged(runId: string): Promise<boolean> {
    for await (const page of this.store.read(runStream(runId), { direction: 'backwards', limit: 1 }))
      return page[0]!.type === ('RunPurged' satisfies RunPurged['type']);
    return false;
  }
}
