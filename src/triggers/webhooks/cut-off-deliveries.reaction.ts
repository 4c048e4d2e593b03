import { Injectable } from '@nestjs/common';
import { runCodec } from '../../background/runs/run.codec.js';
import { type RunForgotten, runStream } from '../../background/runs/run.events.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { deliveryCodec } from './delivery.codec.js';
import type { DeliveryAccepted } from './delivery.events.js';

/**
 * Of a forgotten run whose delivery asked for it, the deliveries under that key are cut off after those whose runs are all
 * forgotten. A crash on the way repeats it: a cut is never taken back.
 */
@Injectable()
export class CutOffDeliveries implements Reaction<RunForgotten> {
  readonly name = 'cut-off-deliveries';
  readonly categories = ['run'];
  readonly codec: Codec<RunForgotten> = runCodec;
  readonly on = { RunForgotten: (event: Recorded<RunForgotten>) => this.cut(event) };

  constructor(private readonly store: EventStore) {}

  /** Deliveries under one key share a stream, and a later one may still be kept. */
  private async cut({ data: { delivery } }: Recorded<RunForgotten>): Promise<void> {
    if (!delivery) return;
    for await (const page of this.store.read(delivery.stream)) {
      for (const { revision, type, data } of page) {
        if (type in deliveryCodec) {
          const { taskId } = JSON.parse(data) as DeliveryAccepted['data'];
          if (!(await this.isForgotten(taskId))) return;
        }
        await this.store.setRetention(delivery.stream, { truncateBefore: revision + 1 });
      }
    }
  }

  private async isForgotten(runId: string): Promise<boolean> {
    for await (const page of this.store.read(runStream(runId), { direction: 'backwards', limit: 1 }))
      return page[0]!.type === ('RunForgotten' satisfies RunForgotten['type']);
    return false;
  }
}
