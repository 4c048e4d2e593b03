import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { StoredTexts } from '../../kernel/event-sourcing/event-store.js';
import { Timing } from '../../kernel/timing.js';
import type { TurnToRun } from './message.events.js';

/** Maximum number of messages whose conversations are cached, about 200 bytes each. */
export const RECENT_MESSAGES_MAX = 10_000;
/** Maximum size of the cached journals together. */
export const RECENT_JOURNALS_CHARACTERS_MAX = 8 * 1024 * 1024;
/** How long a journal is cached. It can be read for this time after the store has deleted it because of its age. */
export const RECENT_JOURNAL_MS = 1_000;

/** What this process knows of messages that it has read, so that the next reader waits for fewer reads. */
@Injectable()
export class RecentMessages {
  private readonly conversations = new LRUCache<string, string>({ max: RECENT_MESSAGES_MAX });
  private readonly journals: LRUCache<string, StoredTexts>;

  constructor(timing: Timing) {
    this.journals = new LRUCache({
      maxSize: RECENT_JOURNALS_CHARACTERS_MAX,
      sizeCalculation: ({ texts }) => texts.reduce((characters, text) => characters + text.length, 1),
      ttl: RECENT_JOURNAL_MS,
      ttlResolution: 0,
      perf: { now: () => timing.elapsedMs() },
    });
  }

  note({ conversationId, turnId }: TurnToRun): void {
    this.conversations.set(turnId, conversationId);
  }

  /** A message never changes its conversation, so its journal and its conversation can be read at once. */
  conversationOf(messageId: string): string | undefined {
    return this.conversations.get(messageId);
  }

  /** Caches the first page of a finished answer's journal, which never changes. Readers look in the store for what follows it. */
  noteJournal(messageId: string, journal: StoredTexts): void {
    this.journals.set(messageId, journal);
  }

  journalOf(messageId: string): StoredTexts | undefined {
    return this.journals.get(messageId);
  }
}
