import { expect, it } from '@jest/globals';
import { NoSessions } from '../../../../test/support/no-sessions.js';
import { ReadableAccounts } from '../../../../test/support/readable-accounts.js';
import type { Commands } from '../../../kernel/commands.js';
import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { SealingKey } from '../../../platform/credentials/sealing-key.js';
import { InProcessKeyValue } from '../../../platform/messaging/key-value/in-process-key-value.js';
import type { NewSession } from '../sessions/sessions.port.js';
import type { Grant, IdentityProvider } from './identity-provider.js';
import { OneTimeSecrets } from './one-time-secrets.js';
import { SignIn, type SignInParts } from './sign-in.js';

const grant: Grant = {
  issuer: 'https://a.example',
  subject: 'ann',
  sid: null,
  claims: { sub: 'ann' },
  refreshToken: 'a-refresh-token',
};

/** A sign-in that the provider accepts, with the given parts replaced by broken ones. */
function signInWith(broken: Partial<SignInParts>) {
  const warnings: string[] = [];
  const begun: string[] = [];
  class Sessions extends NoSessions {
    override async begin({ sessionId }: NewSession) {
      begun.push(sessionId);
    }
    override async end(_: string, sessionId: string) {
      begun.splice(begun.indexOf(sessionId), 1);
      return undefined;
    }
  }
  const [keyValue, seals] = [new InProcessKeyValue(), new SealingKey('a secret for tests')];
  const logins: SignInParts['logins'] = new OneTimeSecrets(keyValue, seals, 'login', 60_000);
  const parts = {
    settings: { userIdClaim: 'sub', groupsClaim: 'groups', allowedGroups: [], adminGroups: [], sessionLifetimeMs: 60_000 },
    provider: { redeem: async () => grant } as unknown as IdentityProvider,
    logins,
    handOvers: new OneTimeSecrets(keyValue, seals, 'hand-over', 60_000),
    accounts: new ReadableAccounts(),
    sessions: new Sessions(),
    commands: { execute: async () => undefined } as unknown as Commands,
    clock: { now: () => new Date() },
    warn: (text: string) => warnings.push(text),
    ...broken,
  } as unknown as SignInParts;
  const finish = async () => {
    await logins.keep('state', { state: 'state', nonce: 'n', verifier: 'v' });
    const url = new URL('https://b.example/callback?code=the-code&state=state');
    return new SignIn(parts).finish({ state: 'state', cookie: 'state', url, client: null, requestId: 'r1' });
  };
  return { finish, warnings, begun };
}

it('a successful sign-in starts a session', async () => {
  const { finish, begun, warnings } = signInWith({});
  expect(await finish()).toEqual({ code: expect.any(String) });
  expect([begun.length, warnings]).toEqual([1, []]);
});

it('a sign-in fails at the web client while the log is unavailable, and leaves no session', async () => {
  const commands = { execute: () => Promise.reject(new StoreUnavailable('at the-code')) } as unknown as Commands;
  const { finish, begun, warnings } = signInWith({ commands });
  expect(await finish()).toEqual({ error: 'auth_failed' });
  expect([begun, warnings]).toEqual([[], ['A sign-in failed: StoreUnavailable']]);
});
