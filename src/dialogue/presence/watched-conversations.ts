import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import { KeyValue } from '../../kernel/key-value.js';

/** So long a tab counts as watching after its last report; pages report twice as often. */
export const WATCHING_MS = 45_000;
/** Tabs that watch one conversation. */
export const TABS_MAX = 32;
const TRIES_MAX = 3;

/** Until when which tab of the owner's watches, in milliseconds since 1970. */
type Watching = Readonly<{ userId: string; tabs: Readonly<Record<string, number>> }>;

/** Which conversations somebody is looking at right now. It may be forgotten: then they count as unread a moment longer. */
@Injectable()
export class WatchedConversations {
  constructor(
    private readonly keyValue: KeyValue,
    private readonly clock: Clock,
  ) {}

  /** A tab of its owner's shows the conversation, or does not any more. */
  async report(conversationId: string, userId: string, tabId: string, isWatching: boolean): Promise<void> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const entry = await this.keyValue.get(keyOf(conversationId));
      const now = this.clock.now().getTime();
      const known = entry ? (JSON.parse(entry.value) as Watching).tabs : {};
      const others = Object.entries(known).filter(([id, until]) => id !== tabId && until > now);
      const tabs = [...(isWatching ? [[tabId, now + WATCHING_MS] as const] : []), ...others].slice(0, TABS_MAX);
      const value = JSON.stringify({ userId, tabs: Object.fromEntries(tabs) } satisfies Watching);
      const options = { ttlMs: WATCHING_MS };
      const isKept = entry
        ? await this.keyValue.update(keyOf(conversationId), value, entry.revision, options)
        : await this.keyValue.create(keyOf(conversationId), value, options);
      if (isKept) return;
    }
  }

  /** Who looks at it; undefined: nobody. */
  async watcherOf(conversationId: string): Promise<string | undefined> {
    const entry = await this.keyValue.get(keyOf(conversationId));
    if (!entry) return undefined;
    const { userId, tabs } = JSON.parse(entry.value) as Watching;
    const now = this.clock.now().getTime();
    return Object.values(tabs).some((until) => until > now) ? userId : undefined;
  }
}

const keyOf = (conversationId: string): string => `watched.${conversationId}`;
