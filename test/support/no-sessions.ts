import {
  type EndedSession,
  type ListedSession,
  type LiveSession,
  type NewSession,
  Sessions,
  type TakenRefreshToken,
} from '../../src/resources/identity/sessions/sessions.port.js';

/** Sessions of a service without a sign-in provider. */
export class NoSessions extends Sessions {
  async begin(_session: NewSession): Promise<void> {}
  async find(): Promise<LiveSession | undefined> {
    return undefined;
  }
  async endedAmong(_sessionIds: readonly string[]): Promise<readonly string[]> {
    return [];
  }
  async listOf(): Promise<readonly ListedSession[]> {
    return [];
  }
  async takeRefreshToken(): Promise<TakenRefreshToken> {
    return 'none';
  }
  async settleRefreshToken(): Promise<void> {}
  async renew(): Promise<LiveSession | undefined> {
    return undefined;
  }
  async end(_userId: string, _sessionId: string): Promise<EndedSession | undefined> {
    return undefined;
  }
  async endAtProvider(): Promise<readonly EndedSession[]> {
    return [];
  }
  async setInAdminGroup(): Promise<void> {}
}
