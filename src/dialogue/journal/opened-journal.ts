import type { EventStore, StoredEvent } from '../../kernel/event-sourcing/event-store.js';
import type { TurnId } from '../conversation/conversation.events.js';
import { messageStream } from './message.events.js';

/** A journal whose first page has been read: whoever reads on gets that page first, and every other lets the rest go. */
export class OpenedJournal implements AsyncIterable<readonly StoredEvent[]> {
  private constructor(
    readonly first: readonly StoredEvent[],
    private readonly rest: AsyncIterator<readonly StoredEvent[]>,
  ) {}

  /** Undefined where nothing of it is kept. */
  static async open(store: EventStore, messageId: TurnId): Promise<OpenedJournal | undefined> {
    const rest = store.read(messageStream(messageId))[Symbol.asyncIterator]();
    const page = await rest.next();
    return page.done ? undefined : new OpenedJournal(page.value, rest);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly StoredEvent[]> {
    try {
      yield this.first;
      for (let page; !(page = await this.rest.next()).done;) yield page.value;
    } finally {
      await this.letGo();
    }
  }

  async letGo(): Promise<void> {
    await this.rest.return?.();
  }
}
