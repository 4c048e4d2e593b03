import type { Clock } from '../../kernel/clock.js';
import type { AccessTokenDirectory, AccessTokenHolder } from './access-token-directory.port.js';
import type { AgentKeyDirectory } from './agent-key-directory.port.js';
import type { DeviceDirectory } from './device-directory.port.js';
import type { AskingLinks } from './links/asking-links.port.js';
import type { Caller, DeviceCaller } from './caller.js';
import type { LiveSessions } from './sessions/live-sessions.js';

/** A credential that may end while a response that was requested with it is open. */
export type RevocableCredential = Readonly<
  | { kind: 'session'; id: string }
  | { kind: 'session-token'; id: string; expiresAt: Date }
  | { kind: 'access-token'; id: string; holder: AccessTokenHolder }
  | { kind: 'agent-key'; id: string; agentId: string }
  | { kind: 'link'; id: string }
  | { kind: 'device'; id: string; deviceId: string }
>;

/** The credential of a caller. Undefined if it can neither be revoked nor expire. */
export function revocableOf(caller: Caller | DeviceCaller): RevocableCredential | undefined {
  if (caller.kind === 'device') return { kind: 'device', id: caller.tokenId, deviceId: caller.deviceId };
  if (caller.kind === 'agent-key') return { kind: 'agent-key', id: caller.keyId, agentId: caller.agentId };
  if (caller.kind === 'link') return { kind: 'link', id: caller.linkId };
  const { userId, token: grant, sessionId, tokenExpiresAt: expiresAt } = caller;
  if (grant) return { kind: 'access-token', id: grant.id, holder: { userId, grant } };
  if (sessionId !== undefined) return { kind: 'session', id: sessionId };
  return expiresAt && { kind: 'session-token', id: `${userId}.${expiresAt.getTime()}`, expiresAt };
}

/** A unique name of a credential. A regenerated access token is another credential. */
export const nameOf = (credential: RevocableCredential): string =>
  credential.kind === 'access-token' ? `${credential.id}.${credential.holder.grant.generation}` : credential.id;

/** Checks in the stores whether credentials have ended. */
export class RevocableCredentials {
  constructor(
    private readonly clock: Clock,
    private readonly sessions: Pick<LiveSessions, 'endedAmong'>,
    private readonly tokens: () => Pick<AccessTokenDirectory, 'isValid'>,
    private readonly keys: () => Pick<AgentKeyDirectory, 'isCurrent'>,
    private readonly links: () => Pick<AskingLinks, 'isCurrent'>,
    private readonly devices: () => Pick<DeviceDirectory, 'isCurrent'>,
  ) {}

  /** Whether each credential has ended. One query covers all sessions. If a store is not available, the result is false. */
  areOver(credentials: readonly RevocableCredential[]): readonly Promise<boolean>[] {
    const sessionIds = credentials.filter(({ kind }) => kind === 'session').map(({ id }) => id);
    const endedSessions = sessionIds.length > 0 ? this.sessions.endedAmong(sessionIds) : Promise.resolve([]);
    return credentials.map((each) => this.isOver(each, endedSessions).catch(() => false));
  }

  private async isOver(credential: RevocableCredential, endedSessions: Promise<readonly string[]>): Promise<boolean> {
    switch (credential.kind) {
      case 'session':
        return (await endedSessions).includes(credential.id);
      case 'session-token':
        return credential.expiresAt <= this.clock.now();
      case 'access-token':
        return !(await this.tokens().isValid(credential.holder));
      case 'agent-key':
        return !(await this.keys().isCurrent(credential.agentId, credential.id));
      case 'link':
        return !(await this.links().isCurrent(credential.id));
      case 'device':
        return !(await this.devices().isCurrent(credential.deviceId, credential.id));
    }
  }
}
