import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Signals } from '../../../kernel/messaging/signals.js';
import { CREDENTIAL_ENDED } from '../caller.js';
import { LiveSessions } from '../sessions/live-sessions.js';
import { StateSessionFact } from '../sessions/session.commands.js';
import type { SessionEnd } from '../sessions/session.events.js';
import { type EndedSession, type ProviderLogout, Sessions } from '../sessions/sessions.port.js';

/**
 * Ends sessions: first in the table, which all processes read, then in the cache of this process and by a signal to the others,
 * and then in the log.
 */
@Injectable()
export class SessionEndings {
  constructor(
    private readonly sessions: Sessions,
    private readonly live: LiveSessions,
    private readonly signals: Signals,
    private readonly commands: Commands,
  ) {}

  /** Ends one of a user's sessions. False if the user has no such session. */
  async end(userId: string, sessionId: string, reason: SessionEnd, cause: Cause): Promise<boolean> {
    const ended = await this.sessions.end(userId, sessionId);
    if (ended) await this.state(ended, reason, cause);
    return ended !== undefined;
  }

  /** Ends the sessions that a logout of the provider names. */
  async endAtProvider(logout: ProviderLogout, cause: Cause): Promise<void> {
    for (const ended of await this.sessions.endAtProvider(logout)) await this.state(ended, 'signed-out-at-provider', cause);
  }

  private async state({ sessionId, userId }: EndedSession, reason: SessionEnd, cause: Cause): Promise<void> {
    this.live.forget(sessionId);
    this.signals.publish(CREDENTIAL_ENDED, sessionId);
    await this.commands.execute(new StateSessionFact({ type: 'SessionEnded', data: { sessionId, userId, reason } }, cause));
  }
}
