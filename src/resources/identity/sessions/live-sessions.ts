import { LRUCache } from 'lru-cache';
import type { Timing } from '../../../kernel/timing.js';
import type { LiveSession, Sessions } from './sessions.port.js';

/** How long a session is cached. A session that any process ends is refused by all processes within twice this time. */
const SESSION_KNOWN_MS = 1_000;
const SESSIONS_MAX = 10_000;

type Known = Readonly<{ session: LiveSession | undefined; readAt: number }>;

/** A cache of sessions for the checks of requests, which reads each session at most once a second. */
export class LiveSessions {
  private readonly known = new LRUCache<string, Known>({ max: SESSIONS_MAX });

  constructor(
    private readonly sessions: Sessions,
    private readonly timing: Timing,
  ) {}

  async find(sessionId: string): Promise<LiveSession | undefined> {
    const now = this.timing.elapsedMs();
    const known = this.known.get(sessionId);
    if (known && now - known.readAt < SESSION_KNOWN_MS) return known.session;
    const session = await this.sessions.find(sessionId);
    this.known.set(sessionId, { session, readAt: now });
    return session;
  }

  /** Those of the sessions that have ended. Removes them from the cache. */
  async endedAmong(sessionIds: readonly string[]): Promise<readonly string[]> {
    const ended = await this.sessions.endedAmong(sessionIds);
    for (const id of ended) this.forget(id);
    return ended;
  }

  /** Removes a session from the cache, so that its change is visible at once in this process. */
  forget(sessionId: string): void {
    this.known.delete(sessionId);
  }
}
