import type { AuthType, Role, SignedInUser } from './caller.js';
import { invalidToken, tokenRevoked } from './identity.rejections.js';
import type { Session, SessionTokens } from './session-tokens.js';
import type { LiveSessions } from './sessions/live-sessions.js';
import { ownSubject, type UserAccounts } from './accounts/user-accounts.port.js';

/** The user while authentication is off, and that of the one shared token. No issuer but this installation can name them. */
const LOCAL_USER = 'local';

/** Finds out which user a request comes from. */
export class Authenticator {
  constructor(
    readonly authType: AuthType,
    private readonly tokens: SessionTokens,
    private readonly accounts: UserAccounts,
    private readonly localModeAdmin: boolean,
    private readonly provided: Readonly<{ sessions: LiveSessions; hasAdminGroups: boolean }>,
  ) {}

  /** Undefined when authentication is on and there is no token. @throws Rejection invalid-token, token-expired, token-revoked */
  async userOf(authorization: string | undefined, requestId: string): Promise<SignedInUser | undefined> {
    if (this.authType === 'none')
      return signedIn(LOCAL_USER, this.localModeAdmin ? ['user', 'admin'] : ['user'], 'none', requestId);
    const token = bearerOf(authorization);
    if (token === undefined) return undefined;
    const session = await this.tokens.verify(token);
    if (this.authType === 'oidc') return this.userOfSession(session, requestId);
    // A token of a provider's user means nothing where no provider vouches for it.
    if (session.provided) throw invalidToken();
    const { subject, roles } = session;
    const userId = subject === LOCAL_USER ? LOCAL_USER : await this.accounts.idOf(ownSubject(subject));
    return signedIn(userId, roles.length > 0 ? roles : ['user'], 'session-token', requestId);
  }

  private async userOfSession({ provided }: Session, requestId: string): Promise<SignedInUser> {
    if (!provided) throw invalidToken();
    const { sessions, hasAdminGroups } = this.provided;
    const live = await sessions.find(provided.sessionId);
    if (!live) throw tokenRevoked();
    const roles: readonly Role[] = live.inAdminGroup && hasAdminGroups ? ['user', 'admin'] : ['user'];
    return { ...signedIn(live.userId, roles, 'session-token', requestId), sessionId: live.sessionId };
  }

  /** The token that everybody shares under `simple_jwt`. */
  sharedToken(): Promise<string> {
    return this.tokens.issue({ subject: LOCAL_USER, roles: [] });
  }
}

/** The token in an Authorization header; the word `Bearer` may be missing. */
export function bearerOf(authorization: string | undefined): string | undefined {
  const token = authorization?.replace(/^bearer(\s+|$)/i, '').trim();
  return token === '' ? undefined : token;
}

function signedIn(
  userId: string,
  roles: readonly Role[],
  credential: SignedInUser['credential'],
  requestId: string,
): SignedInUser {
  const cause = { actor: `user:${userId}`, credential, correlationId: requestId, causationId: requestId };
  return { kind: 'user', userId, roles, credential, cause };
}
