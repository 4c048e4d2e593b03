import type { EventStore, NewEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import { Streams } from '../../../src/kernel/event-sourcing/streams.js';
import type { Timing } from '../../../src/kernel/timing.js';

/** Events that whoever appended them takes for stored. */
export type Acknowledged = Readonly<{ stream: string; lastRevision: number; ids: readonly string[] }>;

/** Streams that remember what they said was appended. */
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
