import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../kernel/clock.js';
import type { LiveSession, Sessions } from './sessions.port.js';

/** How long a session counts as it was last found. One that is ended anywhere is refused everywhere within twice this time. */
const SESSION_KNOWN_MS = 1_000;
const SESSIONS_MAX = 10_000;

type Known = Readonly<{ session: LiveSession | undefined; readAt: number }>;

/** Sessions as requests need them: each is read once a second at most. */
export class LiveSessions {
  private readonly known = new LRUCache<string, Known>({ max: SESSIONS_MAX });

  constructor(
    private readonly sessions: Sessions,
    private readonly clock: Clock,
  ) {}

  async find(sessionId: string): Promise<LiveSession | undefined> {
    const now = this.clock.now().getTime();
    const known = this.known.get(sessionId);
    if (known && now - known.readAt < SESSION_KNOWN_MS) return known.session;
    const session = await this.sessions.find(sessionId);
    this.known.set(sessionId, { session, readAt: now });
    return session;
  }

  /** Those among them that are over. Requests of this process know it from now on. */
  async endedAmong(sessionIds: readonly string[]): Promise<readonly string[]> {
    const ended = await this.sessions.endedAmong(sessionIds);
    for (const id of ended) this.forget(id);
    return ended;
  }

  /** What changed in this process is seen in it at once. */
  forget(sessionId: string): void {
    this.known.delete(sessionId);
  }
}
