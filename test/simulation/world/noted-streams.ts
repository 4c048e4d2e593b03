import type { EventStore, NewEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../../src/kernel/event-sourcing/streams.js';
import type { Timing } from '../../../src/kernel/timing.js';

/** Events whose append was acknowledged to the caller. */
export type Acknowledged = Readonly<{ stream: string; lastRevision: number; ids: readonly string[] }>;

/** Streams that record their acknowledged appends. */
export class NotedStreams extends Streams {
  constructor(
    store: EventStore,
    timing: Timing,
    private readonly acknowledged: Acknowledged[],
  ) {
    super(store, timing);
  }

  override async appendEvents(...args: Parameters<Streams['appendEvents']>): ReturnType<Streams['appendEvents']> {
    const [stream, , events] = args;
    const appended = await super.appendEvents(...args);
    this.acknowledged.push({ stream, lastRevision: appended.revision, ids: events.map(({ id }: NewEvent) => id) });
    return appended;
  }
}
