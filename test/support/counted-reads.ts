import { InMemoryEventStore } from './in-memory-event-store.js';

/** Counts the reads of streams and the events that they return. */
export class CountedReads extends InMemoryEventStore {
  events = 0;
  reads = 0;

  override async *read(...reading: Parameters<InMemoryEventStore['read']>) {
    this.reads++;
    for await (const page of super.read(...reading)) {
      this.events += page.length;
      yield page;
    }
  }
}
