import { isConnectionLost, isSessionGone, SessionsExhausted } from './mcp-failures.js';
import { type McpServer, McpSession, type Work } from './mcp-session.js';

export type McpSessionLimits = Readonly<{ sessionsMax: number; idleMs: number }>;

/** The maximum number of open sessions, and the time that an idle session is kept. */
const MCP_SESSIONS: McpSessionLimits = { sessionsMax: 500, idleMs: 5 * 60_000 };

type Kept = { readonly session: Promise<McpSession>; users: number; expiry: NodeJS.Timeout | undefined };

/** A use of a session. `repeatable` says whether acting twice has the same effect as acting once. */
export type Attempt<T> = Readonly<{ work: Work; repeatable: boolean; act: (session: McpSession) => Promise<T> }>;

/**
 * The open sessions, one for each tool and its credentials. If the server has forgotten a session, a new one is opened and the
 * request, which the server did not process, is sent again. After a lost connection a request is sent again only if it is
 * repeatable.
 */
export class McpSessions {
  private readonly kept = new Map<string, Kept>();
  private closed = false;

  constructor(
    private readonly fetch: typeof globalThis.fetch,
    private readonly limits: McpSessionLimits = MCP_SESSIONS,
  ) {}

  get size(): number {
    return this.kept.size;
  }

  async use<T>(key: string, server: McpServer, attempt: Attempt<T>): Promise<T> {
    try {
      return await this.attempt(key, server, attempt);
    } catch (error) {
      const again =
        error instanceof Failed && (isSessionGone(error.cause) || (attempt.repeatable && isConnectionLost(error.cause)));
      if (!again) throw error instanceof Failed ? error.cause : error;
    }
    return this.attempt(key, server, attempt).catch((error: unknown) => {
      throw error instanceof Failed ? error.cause : error;
    });
  }

  /** Ends all sessions. Calls that still wait fail. */
  async close(): Promise<void> {
    this.closed = true;
    const sessions = [...this.kept.keys()].map((key) => this.dropped(key));
    await Promise.all(sessions.map((session) => end(session)));
  }

  private async attempt<T>(key: string, server: McpServer, { work, act }: Attempt<T>): Promise<T> {
    if (this.closed) throw new SessionsExhausted('The sessions were closed.');
    const kept = this.kept.get(key) ?? this.open(key, server, work);
    clearTimeout(kept.expiry);
    kept.users += 1;
    try {
      const session = await unlessAborted(kept.session, work.signal);
      return await act(session).catch((error: unknown) => {
        if (isSessionGone(error) || isConnectionLost(error)) this.drop(key, kept);
        throw new Failed(error);
      });
    } finally {
      kept.users -= 1;
      this.rest(key, kept);
    }
  }

  private open(key: string, server: McpServer, work: Work): Kept {
    this.makeRoom();
    // Concurrent callers share the session that is being opened, so it does not end when the first caller aborts.
    const { cause } = work;
    const session = McpSession.open(server, this.fetch, { cause, timeoutMs: server.timeoutMs });
    const kept: Kept = { session, users: 0, expiry: undefined };
    this.kept.set(key, kept);
    session.catch(() => this.drop(key, kept));
    return kept;
  }

  /** Closes an unused session after the idle time, or at once if it was replaced. */
  private rest(key: string, kept: Kept): void {
    if (kept.users > 0) return;
    if (this.closed || this.kept.get(key) !== kept) return void end(kept.session);
    this.kept.delete(key);
    this.kept.set(key, kept);
    kept.expiry = setTimeout(() => {
      this.drop(key, kept);
      void end(kept.session);
    }, this.limits.idleMs).unref();
  }

  /** Ends the session that has been idle longest, if there is no room. @throws SessionsExhausted if all sessions are in use */
  private makeRoom(): void {
    if (this.kept.size < this.limits.sessionsMax) return;
    const resting = [...this.kept].find(([, { users }]) => users === 0);
    if (!resting) throw new SessionsExhausted('All sessions are at work.');
    void end(this.dropped(resting[0]));
  }

  private drop(key: string, kept: Kept): void {
    if (this.kept.get(key) === kept) this.kept.delete(key);
  }

  private dropped(key: string): Promise<McpSession> {
    const { session, expiry } = this.kept.get(key)!;
    clearTimeout(expiry);
    this.kept.delete(key);
    return session;
  }
}

/** Marks errors of the call itself. Only these may be retried, not errors of opening the session. */
class Failed extends Error {
  constructor(override readonly cause: unknown) {
    super('The call failed.');
  }
}

const end = (session: Promise<McpSession>): Promise<void> => session.then((open) => open.end()).catch(() => undefined);

async function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return result;
  signal.throwIfAborted();
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true, signal: over.signal });
  });
  return Promise.race([result, aborted]).finally(() => over.abort());
}
