import { Injectable } from '@nestjs/common';
import { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { Signals } from '../../../kernel/signals.js';
import { CREDENTIAL_ENDED } from '../credential-ended.port.js';
import { LiveSessions } from '../sessions/live-sessions.js';
import { StateSessionFact } from '../sessions/session.commands.js';
import type { SessionEnd } from '../sessions/session.events.js';
import { type EndedSession, type ProviderLogout, Sessions } from '../sessions/sessions.port.js';

/** The ends of sessions: in the table first, from where every process learns it, then in this process and by a signal, then in the log. */
@Injectable()
export class SessionEndings {
  constructor(
    private readonly sessions: Sessions,
    private readonly live: LiveSessions,
    private readonly signals: Signals,
    private readonly commands: Commands,
  ) {}

  /** Ends one of a user's sessions; false where there is none such. */
  async end(userId: string, sessionId: string, reason: SessionEnd, cause: Cause): Promise<boolean> {
    const ended = await this.sessions.end(userId, sessionId);
    if (ended) await this.state(ended, reason, cause);
    return ended !== undefined;
  }

  /** Ends what a provider names. */
  async endAtProvider(logout: ProviderLogout, cause: Cause): Promise<void> {
    for (const ended of await this.sessions.endAtProvider(logout)) await this.state(ended, 'signed-out-at-provider', cause);
  }

  private async state({ sessionId, userId }: EndedSession, reason: SessionEnd, cause: Cause): Promise<void> {
    this.live.forget(sessionId);
    this.signals.publish(CREDENTIAL_ENDED, sessionId);
    await this.commands.execute(new StateSessionFact({ type: 'SessionEnded', data: { sessionId, userId, reason } }, cause));
  }
}
