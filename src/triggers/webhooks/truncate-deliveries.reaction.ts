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
 * Of a purged run whose delivery asked for it, the deliveries under that key are cut off after those whose runs are all
 * purged. A crash on the way repeats it: a cut is never taken back.
 */
@Injectable()
export class TruncateDeliveries implements Reaction<RunPurged> {
  readonly name = 'truncate-deliveries';
  readonly categories = ['run'];
  readonly codec: Codec<RunPurged> = runCodec;
  readonly on = { RunPurged: (event: Recorded<RunPurged>) => this.cut(event) };

  constructor(private readonly store: EventStore) {}

  /** Deliveries under one key share a stream, and a later one may still be kept. */
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
