import type { EventStore, StoredTexts } from '../../kernel/event-sourcing/event-store.js';
import type { TurnId } from '../conversation/conversation.events.js';
import { messageStream } from './message.events.js';

/** A journal whose first page was read. Its reader gets that page first; without a reader, the rest, if any, is closed. */
export class OpenedJournal implements AsyncIterable<StoredTexts> {
  constructor(
    readonly first: StoredTexts,
    private readonly rest?: AsyncIterator<StoredTexts>,
  ) {}

  get lastRevision(): number {
    return this.first.first + this.first.texts.length - 1;
  }

  /** Reads the first page; undefined if no frame is kept. */
  static async open(store: EventStore, messageId: TurnId): Promise<OpenedJournal | undefined> {
    const rest = store.readTexts(messageStream(messageId))[Symbol.asyncIterator]();
    const page = await rest.next();
    return page.done ? undefined : new OpenedJournal(page.value, rest);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StoredTexts> {
    try {
      yield this.first;
      for (let page; (page = await this.rest?.next()) && !page.done;) yield page.value;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    await this.rest?.return?.();
  }
}
