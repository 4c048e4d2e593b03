import type {
  Appended,
  ExpectedRevision,
  NewEvent,
  Retention,
  StoredEvent,
  StoredTexts,
  StreamReading,
} from '../../kernel/event-sourcing/event-store.js';
import { ForwardingEventStore } from './forwarding-event-store.js';
import { KnownEnds } from './known-ends.js';

/** A log that only this process writes. Reads past the end of a stream are answered from memory. */
export class SoleWriterEventStore extends ForwardingEventStore {
  private readonly ends = new KnownEnds();

  override append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended> {
    return this.ends.appended(stream, expected, () => this.store.append(stream, expected, events));
  }

  override async appendWithin(
    bounds: Retention,
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<Appended> {
    try {
      return await this.ends.appended(stream, expected, () => this.store.appendWithin(bounds, stream, expected, events));
    } finally {
      this.ends.forget(stream);
    }
  }

  override async setRetention(stream: string, retention: Retention): Promise<void> {
    try {
      await this.store.setRetention(stream, retention);
    } finally {
      this.ends.forget(stream);
    }
  }

  override read(stream: string, reading: StreamReading = {}): AsyncIterable<readonly StoredEvent[]> {
    const { from = 0, direction = 'forwards', limit } = reading;
    const pages = () => this.store.read(stream, reading);
    if (direction === 'backwards') return pages();
    return limit === undefined ? this.toTheEnd(stream, from, pages, nextAfter) : this.unlessPast(stream, from, pages);
  }

  override readTexts(stream: string, from = 0): AsyncIterable<StoredTexts> {
    const pages = () => this.store.readTexts(stream, from);
    return this.toTheEnd(stream, from, pages, ({ first, texts }) => first + texts.length);
  }

  /** The pages of a read. The store is asked when the first is pulled, and only if the read is not past the end. */
  private async *unlessPast<Page>(stream: string, from: number, pages: () => AsyncIterable<Page>) {
    if (!this.ends.isPast(stream, from)) yield* pages();
  }

  /** As `unlessPast`. A caller that reads all pages has found the end of the stream. */
  private async *toTheEnd<Page>(stream: string, from: number, pages: () => AsyncIterable<Page>, after: (page: Page) => number) {
    if (this.ends.isPast(stream, from)) return;
    const endsAt = this.ends.reading(stream, from);
    let next = from;
    for await (const page of pages()) {
      yield page;
      next = after(page);
    }
    endsAt(next);
  }
}

const nextAfter = (page: readonly StoredEvent[]): number => page.at(-1)!.revision + 1;
