import type { AuthType, Role, SignedInUser } from './caller.js';
import { invalidToken, tokenRevoked } from './identity.rejections.js';
import type { Session, SessionTokens } from './session-tokens.js';
import type { LiveSessions } from './sessions/live-sessions.js';
import { ownSubject, type UserAccounts } from './accounts/user-accounts.port.js';

/** The user if authentication is off, and the user of the shared token. A provider cannot name this user. */
const LOCAL_USER = 'local';

/** Determines the user of a request. */
export class Authenticator {
  constructor(
    readonly authType: AuthType,
    private readonly tokens: SessionTokens,
    private readonly accounts: UserAccounts,
    private readonly localModeAdmin: boolean,
    private readonly provided: Readonly<{ sessions: LiveSessions; hasAdminGroups: boolean }>,
  ) {}

  /**
   * Undefined if authentication is on and the request has no token.
   * @throws Rejection invalid-token, token-expired, token-revoked
   */
  async userOf(authorization: string | undefined, requestId: string): Promise<SignedInUser | undefined> {
    if (this.authType === 'none')
      return signedIn(LOCAL_USER, this.localModeAdmin ? ['user', 'admin'] : ['user'], 'none', requestId);
    const token = bearerOf(authorization);
    if (token === undefined) return undefined;
    const session = await this.tokens.verify(token);
    if (this.authType === 'oidc') return this.userOfSession(session, requestId);
    // Tokens of provider sessions are accepted only while sign-in at a provider is configured.
    if (session.provided) throw invalidToken();
    const { subject, roles, expiresAt } = session;
    const userId = subject === LOCAL_USER ? LOCAL_USER : await this.accounts.idOf(ownSubject(subject));
    const user = signedIn(userId, roles.length > 0 ? roles : ['user'], 'session-token', requestId);
    return { ...user, ...(expiresAt && { tokenExpiresAt: expiresAt }) };
  }

  private async userOfSession({ provided }: Session, requestId: string): Promise<SignedInUser> {
    if (!provided) throw invalidToken();
    const { sessions, hasAdminGroups } = this.provided;
    const live = await sessions.find(provided.sessionId);
    if (!live) throw tokenRevoked();
    const roles: readonly Role[] = live.inAdminGroup && hasAdminGroups ? ['user', 'admin'] : ['user'];
    return { ...signedIn(live.userId, roles, 'session-token', requestId), sessionId: live.sessionId };
  }

  /** The one token that all users share with `simple_jwt`. */
  sharedToken(): Promise<string> {
    return this.tokens.issue({ subject: LOCAL_USER, roles: [] });
  }
}

/** The token in an Authorization header. The word `Bearer` is optional. */
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
