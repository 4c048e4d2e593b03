import { expect, it } from '@jest/globals';
import { Authenticator } from './authenticator.js';
import { SessionTokens } from './session-tokens.js';
import type { UserAccounts } from './accounts/user-accounts.port.js';
import type { LiveSessions } from './sessions/live-sessions.js';

it('a user is signed in until the session token expires, if it does', async () => {
  const tokens = new SessionTokens('a secret of at least 32 characters');
  const accounts = { idOf: async () => 'u1' } as unknown as UserAccounts;
  const provided = { sessions: {} as LiveSessions, hasAdminGroups: false };
  const authenticator = new Authenticator('session_jwt', tokens, accounts, false, provided);
  const userOf = async (seconds?: number) =>
    authenticator.userOf(`Bearer ${await tokens.issue({ subject: 'alice', roles: [] }, seconds)}`, 'r1');
  expect(await userOf(60)).toMatchObject({ userId: 'u1', tokenExpiresAt: expect.any(Date) });
  expect(await userOf()).not.toHaveProperty('tokenExpiresAt');
});
