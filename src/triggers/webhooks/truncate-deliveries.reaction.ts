import { Injectable } from '@nestjs/common';
import { runCodec } from '../../background/runs/run.codec.js';
import { type RunPurged, runStream } from '../../background/runs/run.events.js';
import { Commands } from '../../kernel/commands.js';
import type { Codec } from '../../kernel/event-sourcing/codec.js';
import { EventStore } from '../../kernel/event-sourcing/event-store.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { PurgeDeliveries } from './delivery.commands.js';
import type { DeliveriesPurged, DeliveryAccepted } from './delivery.events.js';

/**
 * Removes deliveries after their runs were purged. Steps: read the stream from its start; truncate it before the first delivery
 * whose run is not purged, or record that all are purged. Without that record the last delivery would stay in EventStoreDB, whose
 * scavenge keeps the newest event of each stream. A crash in between repeats all steps, which is harmless because a truncation is
 * never undone, and a purge is recorded once.
 */
@Injectable()
export class TruncateDeliveries implements Reaction<RunPurged> {
  readonly name = 'truncate-deliveries';
  readonly categories = ['run'];
  readonly codec: Codec<RunPurged> = runCodec;
  readonly on = { RunPurged: (event: Recorded<RunPurged>) => this.cut(event) };

  constructor(
    private readonly store: EventStore,
    private readonly commands: Commands,
  ) {}

  /** Deliveries under one key share a stream, so a later one may still be needed. A recorded purge is kept until the next one. */
  private async cut(event: Recorded<RunPurged>): Promise<void> {
    if (!event.data.delivery) return;
    const { stream } = event.data.delivery;
    let truncateBefore: number | undefined;
    let last: string | undefined;
    for await (const page of this.store.read(stream)) {
      for (const { revision, type, data } of page) {
        if (type === ('DeliveriesPurged' satisfies DeliveriesPurged['type'])) truncateBefore ??= revision;
        if (type !== ('DeliveryAccepted' satisfies DeliveryAccepted['type'])) continue;
        const { taskId } = JSON.parse(data) as DeliveryAccepted['data'];
        if (!(await this.isPurged(taskId))) {
          if (last) await this.store.setRetention(stream, { truncateBefore: truncateBefore ?? revision });
          return;
        }
        last = taskId;
      }
    }
    if (last) await this.commands.execute(new PurgeDeliveries(stream, last, causedBy(event, `system:${this.name}`)));
  }

  private async isPurged(runId: string): Promise<boolean> {
    for await (const page of this.store.read(runStream(runId), { direction: 'backwards', limit: 1 }))
      return page[0]!.type === ('RunPurged' satisfies RunPurged['type']);
    return false;
  }
}
