import { Injectable } from '@nestjs/common';
import { Clock } from '../../kernel/clock.js';
import { KeyValue } from '../../kernel/messaging/key-value.js';

/** How long a tab counts as viewing after its last report. Pages report twice as often. */
export const WATCHING_MS = 45_000;
/** Maximum number of tabs per conversation. */
export const TABS_MAX = 32;
const TRIES_MAX = 3;

/** The tabs of the owner, each with the time until which it counts as viewing, in milliseconds since 1970. */
type Watching = Readonly<{ userId: string; tabs: Readonly<Record<string, number>> }>;

/** The conversations that are being viewed. If this state is lost, marks stay a moment longer. */
@Injectable()
export class WatchedConversations {
  constructor(
    private readonly keyValue: KeyValue,
    private readonly clock: Clock,
  ) {}

  /** Records that a tab of the owner shows the conversation, or no longer does. */
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

  /** The user who views the conversation, if any. */
  async watcherOf(conversationId: string): Promise<string | undefined> {
    const entry = await this.keyValue.get(keyOf(conversationId));
    if (!entry) return undefined;
    const { userId, tabs } = JSON.parse(entry.value) as Watching;
    const now = this.clock.now().getTime();
    return Object.values(tabs).some((until) => until > now) ? userId : undefined;
  }
}

const keyOf = (conversationId: string): string => `watched.${conversationId}`;
