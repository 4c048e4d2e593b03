import { LRUCache } from 'lru-cache';
import { decode } from '../../kernel/event-sourcing/codec.js';
import type { EventStore } from '../../kernel/event-sourcing/event-store.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import { monitorCodec } from '../../triggers/monitors/monitor/monitor.codec.js';
import type { MonitorEvent } from '../../triggers/monitors/monitor/monitor.events.js';
import { type NotifiedMonitor, noMonitor, withStatusChangedBy } from './monitor-notifications.policy.js';

/** Monitors whose status is remembered between two events of theirs: their streams are long. */
const STATUSES_CACHED_MAX = 5_000;

/** How monitors stood and stand around an event. */
export class MonitorStatuses {
  private readonly known = new LRUCache<string, Readonly<{ revision: number; status: NotifiedMonitor }>>({
    max: STATUSES_CACHED_MAX,
  });

  constructor(private readonly store: EventStore) {}

  async around(event: Recorded<MonitorEvent>): Promise<Readonly<{ before: NotifiedMonitor; after: NotifiedMonitor }>> {
    const { stream, revision } = event;
    const known = this.known.get(stream);
    const before = known?.revision === revision - 1 ? known.status : await this.upTo(stream, revision);
    const after = withStatusChangedBy(before, event);
    this.known.set(stream, { revision, status: after });
    return { before, after };
  }

  private async upTo(stream: string, revision: number): Promise<NotifiedMonitor> {
    let status = noMonitor;
    if (revision === 0) return status;
    for await (const page of this.store.read(stream, { limit: revision })) {
      for (const stored of page) {
        const event = decode<MonitorEvent>(monitorCodec, stored);
        if (event) status = withStatusChangedBy(status, event);
      }
    }
    return status;
  }
}
