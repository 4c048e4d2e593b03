import { isNameable } from '../../kernel/nameable.js';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Role } from './caller.js';
import { invalidToken, tokenExpired } from './identity.rejections.js';
import type { UserLabel } from './accounts/user-accounts.port.js';

/** The content of a session token. `Authenticator` looks up the user of its subject. */
export type Session = Readonly<{
  subject: string;
  roles: readonly Role[];
  /** Unset if the token does not expire. */
  expiresAt?: Date;
  /** Set in tokens of users who signed in at a provider. Such a token is valid while its session is open. */
  provided?: Readonly<{ sessionId: string; generation: number }>;
}>;

/** The content of the token of a user who signed in at a provider. */
export type ProvidedSession = Readonly<{
  sessionId: string;
  generation: number;
  userId: string;
  providerSubject: string;
  providerSid: string | null;
  label: UserLabel;
  expiresAt: Date;
}>;

/** Longer tokens are refused without being parsed, and longer subjects are invalid. */
const TOKEN_CHARACTERS_MAX = 8192;
export const SUBJECT_CHARACTERS_MAX = 256;
/** Size of the cache of verified tokens. Verifying takes 0.15 ms, and clients send the same token with each request. */
export const REMEMBERED_TOKENS_MAX = 1000;

const ALGORITHM = 'HS256';

/** Issues and verifies session tokens. These are JWTs that are signed with one secret. `exp` and `roles` are optional. */
export class SessionTokens {
  private readonly key: Uint8Array;
  private readonly remembered = new LRUCache<string, Session>({ max: REMEMBERED_TOKENS_MAX });

  constructor(secret: string) {
    this.key = new TextEncoder().encode(secret);
  }

  issue(session: Session, expiresInSeconds?: number): Promise<string> {
    const claims = session.roles.length > 0 ? { roles: session.roles } : {};
    const token = new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' }).setSubject(session.subject);
    if (expiresInSeconds !== undefined) token.setExpirationTime(Math.floor(Date.now() / 1000) + expiresInSeconds);
    return token.sign(this.key);
  }

  /** Issues a token with the claims that clients of the incumbent read. */
  issueProvided({ sessionId, generation, userId, label, ...session }: ProvidedSession): Promise<string> {
    const said = Object.entries({ oidc_sid: session.providerSid, ...label }).filter(([, value]) => value !== null);
    return new SignJWT({ oidc_sub: session.providerSubject, ...Object.fromEntries(said) })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
      .setSubject(userId)
      .setJti(`${sessionId}.${generation}`)
      .setIssuedAt()
      .setExpirationTime(Math.floor(session.expiresAt.getTime() / 1000))
      .sign(this.key);
  }

  /** @throws Rejection invalid-token, token-expired */
  async verify(token: string): Promise<Session> {
    const known = this.remembered.get(token);
    if (known) {
      if (known.expiresAt && known.expiresAt.getTime() <= Date.now()) throw tokenExpired();
      return known;
    }
    if (token.length > TOKEN_CHARACTERS_MAX) throw invalidToken();
    const { sub, exp, roles, jti, oidc_sub: providerSubject } = await this.claimsOf(token);
    if (typeof sub !== 'string' || !isSubject(sub)) throw invalidToken();
    const provided = providerSubject === undefined ? undefined : providedIn(jti);
    const session: Session = {
      subject: sub,
      roles: rolesIn(roles),
      ...(exp !== undefined && { expiresAt: new Date(exp * 1000) }),
      ...(provided && { provided }),
    };
    this.remembered.set(token, session);
    return session;
  }

  private async claimsOf(token: string) {
    try {
      return (await jwtVerify(token, this.key, { algorithms: [ALGORITHM] })).payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw tokenExpired();
      if (error instanceof errors.JOSEError || error instanceof TypeError) throw invalidToken();
      throw error;
    }
  }
}

/** Whether a token may be for this subject. */
export const isSubject = (text: string): boolean => text !== '' && text.length <= SUBJECT_CHARACTERS_MAX && isNameable(text);

/** @throws Rejection invalid-token */
function providedIn(jti: unknown): NonNullable<Session['provided']> {
  const [, sessionId, generation] = /^([0-9a-f-]{36})\.(\d{1,9})$/.exec(String(jti)) ?? [];
  if (sessionId === undefined) throw invalidToken();
  return { sessionId, generation: Number(generation) };
}

const rolesIn = (claim: unknown): readonly Role[] =>
  Array.isArray(claim) ? (['user', 'admin'] as const).filter((role) => claim.includes(role)) : [];
