import type { TokenGrant } from './caller.js';

/** What every token begins with, so that scanners of source code find it. */
export const ACCESS_TOKEN_PREFIX = 'dgpt_pat_';

export const isAccessToken = (bearer: string | undefined): bearer is string => bearer?.startsWith(ACCESS_TOKEN_PREFIX) ?? false;

/** Whom a token stands for, and what it lets its bearer do. */
export type AccessTokenHolder = Readonly<{ userId: string; grant: TokenGrant }>;

/** Finds out what a token is worth. One that is revoked, regenerated or unknown is worth nothing. */
export abstract class AccessTokenDirectory {
  /** @throws Rejection invalid-token, token-expired */
  abstract holderOf(token: string): Promise<AccessTokenHolder>;
  /** Whether the secret with which the holder came is still that of the token. */
  abstract isValid(holder: AccessTokenHolder): Promise<boolean>;
  /** Notes that a token was used, at most once a minute; never waited for, and never in the way. */
  abstract noteUse(tokenId: string, address: string): void;
}
