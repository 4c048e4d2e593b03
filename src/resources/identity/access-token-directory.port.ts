import type { TokenGrant } from './caller.js';

/** The prefix of every token, by which secret scanners find tokens in source code. */
export const ACCESS_TOKEN_PREFIX = 'dgpt_pat_';

export const isAccessToken = (bearer: string | undefined): bearer is string => bearer?.startsWith(ACCESS_TOKEN_PREFIX) ?? false;

/** The user of a token, and what the token allows its bearer. */
export type AccessTokenHolder = Readonly<{ userId: string; grant: TokenGrant }>;

/** Looks up personal access tokens. Unknown and revoked tokens, and former secrets of regenerated ones, are invalid. */
export abstract class AccessTokenDirectory {
  /** @throws Rejection invalid-token, token-expired */
  abstract holderOf(token: string): Promise<AccessTokenHolder>;
  /** Whether the secret that the holder used is still the token's current one, and the token has not expired. */
  abstract isValid(holder: AccessTokenHolder): Promise<boolean>;
  /** Records the use of a token, at most once a minute, in the background. Failures are only logged. */
  abstract noteUse(tokenId: string, address: string): void;
}
