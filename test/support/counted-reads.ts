import { InMemoryEventStore } from './in-memory-event-store.js';

/** Counts the events that were read of streams. */
export class CountedReads extends InMemoryEventStore {
  events = 0;

  override async *read(...reading: Parameters<InMemoryEventStore['read']>) {
    for await (const page of super.read(...reading)) {
      this.events += page.length;
      yield page;
    }
  }
}
