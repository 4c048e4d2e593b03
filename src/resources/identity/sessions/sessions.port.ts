/** A session at a provider, and what its user is called there. */
type ProviderSession = Readonly<{ issuer: string; subject: string; sid: string | null }>;

export type NewSession = Readonly<{
  sessionId: string;
  userId: string;
  provider: ProviderSession;
  /** What new tokens of the session are fetched with; kept sealed. */
  refreshToken: string | undefined;
  expiresAt: Date;
  /** What the browser says that it is. */
  client: string | null;
}>;

/** A session that is neither over nor past its time. Each renewal begins another generation of its token. */
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

/** Which sessions a provider ends: one, or all of one of its users. */
export type ProviderLogout = Readonly<{ issuer: string; subject: string | undefined; sid: string | undefined }>;

export type EndedSession = Readonly<{ sessionId: string; userId: string }>;

/** The refresh tokens of sessions are sealed for this long by a renewal that never came back. */
export const RENEWAL_MS_MAX = 60_000;

/** The sessions of users who signed in at a provider, in one place for all processes. */
export abstract class Sessions {
  abstract begin(session: NewSession): Promise<void>;
  abstract find(sessionId: string): Promise<LiveSession | undefined>;
  /** Those among them that are over. */
  abstract endedAmong(sessionIds: readonly string[]): Promise<readonly string[]>;
  abstract listOf(userId: string): Promise<readonly ListedSession[]>;
  /** The refresh token, for one renewal of this generation at a time; undefined where there is none to be had. */
  abstract takeRefreshToken(sessionId: string, generation: number): Promise<string | undefined>;
  /** Gives it back after a renewal that may be tried again, or drops it. */
  abstract settleRefreshToken(sessionId: string, outcome: 'kept' | 'dropped'): Promise<void>;
  /** The next generation; undefined where the session ended meanwhile. */
  abstract renew(sessionId: string, renewal: Renewal): Promise<LiveSession | undefined>;
  /** Ends one of a user's sessions, if it is not over yet; undefined where it is not theirs. */
  abstract end(userId: string, sessionId: string): Promise<EndedSession | undefined>;
  /** Those that it ended now or, at the same word of the provider, a short time ago. */
  abstract endAtProvider(logout: ProviderLogout): Promise<readonly EndedSession[]>;
  /** Whether a provider has the user among the administrators. */
  abstract setInAdminGroup(userId: string, inAdminGroup: boolean): Promise<void>;
}
