/** The session at the provider, and the provider's id of the user. */
type ProviderSession = Readonly<{ issuer: string; subject: string; sid: string | null }>;

export type NewSession = Readonly<{
  sessionId: string;
  userId: string;
  provider: ProviderSession;
  /** The token with which the session is renewed at the provider. It is stored sealed. */
  refreshToken: string | undefined;
  expiresAt: Date;
  /** The `User-Agent` of the browser. */
  client: string | null;
}>;

/** A session that has neither ended nor expired. Each renewal increments the generation of its token. */
export type LiveSession = Readonly<{
  sessionId: string;
  userId: string;
  provider: ProviderSession;
  generation: number;
  expiresAt: Date;
  inAdminGroup: boolean;
}>;

export type ListedSession = Readonly<{
  sessionId: string;
  client: string | null;
  startedAt: Date;
  renewedAt: Date | null;
  expiresAt: Date;
}>;

export type Renewal = Readonly<{ refreshToken: string; sid: string | null; expiresAt: Date }>;

/** The sessions that a provider ends: one, or all of a user. */
export type ProviderLogout = Readonly<{ issuer: string; subject: string | undefined; sid: string | undefined }>;

export type EndedSession = Readonly<{ sessionId: string; userId: string }>;

/** `none`: this generation has no refresh token. `in-use`: another renewal has it. */
export type TakenRefreshToken = Readonly<{ refreshToken: string }> | 'none' | 'in-use';

/** How long a renewal that never finished blocks other renewals of its session. */
export const RENEWAL_MS_MAX = 60_000;

/** The store of the sessions of users who signed in at a provider. All processes share it. */
export abstract class Sessions {
  abstract begin(session: NewSession): Promise<void>;
  abstract find(sessionId: string): Promise<LiveSession | undefined>;
  /** Those of the sessions that have ended. */
  abstract endedAmong(sessionIds: readonly string[]): Promise<readonly string[]>;
  abstract listOf(userId: string): Promise<readonly ListedSession[]>;
  /** The refresh token, for one renewal of this generation at a time. */
  abstract takeRefreshToken(sessionId: string, generation: number): Promise<TakenRefreshToken>;
  /** Ends a renewal that failed. Keeps the refresh token for another attempt, or drops it. */
  abstract settleRefreshToken(sessionId: string, outcome: 'kept' | 'dropped'): Promise<void>;
  /** The session with its next generation. Undefined if the session ended in the meantime. */
  abstract renew(sessionId: string, renewal: Renewal): Promise<LiveSession | undefined>;
  /** Ends one of a user's sessions. An ended session stays ended. Undefined if the user has no such session. */
  abstract end(userId: string, sessionId: string): Promise<EndedSession | undefined>;
  /** Ends the sessions. Returns them, also those that ended a short time ago. */
  abstract endAtProvider(logout: ProviderLogout): Promise<readonly EndedSession[]>;
  /** Stores whether the provider reports the user as an administrator. */
  abstract setInAdminGroup(userId: string, inAdminGroup: boolean): Promise<void>;
}
