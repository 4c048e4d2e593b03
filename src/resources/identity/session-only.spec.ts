import { expect, it } from '@jest/globals';
import { requireSession } from './session-only.js';

it.each(['none', 'session-token'])('a user signed in by %s has a session', (credential) =>
  expect(requireSession({ credential })).toEqual({ credential }),
);

it('nobody has none', () =>
  expect(() => requireSession(undefined)).toThrow(expect.objectContaining({ code: 'unauthenticated' })));

it('what a user has given to a program is no session', () =>
  expect(() => requireSession({ credential: 'personal-access-token' })).toThrow(
    expect.objectContaining({ code: 'not-available-to-tokens' }),
  ));
