import type { ServerResponse } from 'node:http';
import type { Timing } from '../../../kernel/timing.js';
import { endEventStream } from '../../../platform/http/sse.js';
import type { Sessions } from './sessions.port.js';

/** How often it is asked whether sessions with open responses are over. */
const SESSION_CHECK_MS = 500;

/** The responses of this process that are not at their end, by the session that asked for them. They end with their session. */
export class OpenResponses {
  private readonly open = new Map<string, Set<ServerResponse>>();
  private stop: (() => void) | undefined;
  private checking = false;

  constructor(
    private readonly sessions: Sessions,
    private readonly timing: Timing,
  ) {}

  add(sessionId: string, response: ServerResponse): void {
    if (response.destroyed || response.writableEnded) return;
    const responses = this.open.get(sessionId) ?? new Set();
    this.open.set(sessionId, responses.add(response));
    response.once('close', () => this.remove(sessionId, response));
    this.stop ??= this.timing.every(SESSION_CHECK_MS, () => void this.check());
  }

  /** A response that outlives its session. */
  spare(response: ServerResponse): void {
    for (const responses of this.open.values()) responses.delete(response);
  }

  /** A stream ends between two frames and says nothing; what is no stream breaks off. */
  endAll(sessionId: string): void {
    for (const response of this.open.get(sessionId) ?? []) {
      if (!endEventStream(response)) response.destroy();
    }
  }

  private remove(sessionId: string, response: ServerResponse): void {
    const responses = this.open.get(sessionId);
    responses?.delete(response);
    if (responses?.size === 0) this.open.delete(sessionId);
    if (this.open.size > 0) return;
    this.stop?.();
    this.stop = undefined;
  }

  private async check(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    try {
      for (const ended of await this.sessions.endedAmong([...this.open.keys()])) this.endAll(ended);
    } catch {
      // Nothing is known of sessions while the database is away: the next check tells.
    } finally {
      this.checking = false;
    }
  }
}
