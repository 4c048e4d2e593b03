import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { REMEMBERED_TOKENS_MAX, SessionTokens } from './session-tokens.js';

const SECRET = 'short';
const tokens = new SessionTokens(SECRET);

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** A token that another program signs. */
const signed = (claims: object, { alg = 'HS256', secret = SECRET } = {}) => {
  const text = `${encoded({ alg, typ: 'JWT' })}.${encoded(claims)}`;
  const digest = alg === 'HS512' ? 'sha512' : 'sha256';
  return `${text}.${alg === 'none' ? '' : createHmac(digest, secret).update(text).digest('base64url')}`;
};

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

describe('a session token', () => {
  it('contains its user, also if another program signed it', async () => {
    expect(await tokens.verify(signed({ sub: 'alice' }))).toEqual({ subject: 'alice', roles: [] });
    expect(await tokens.verify(await tokens.issue({ subject: 'bob', roles: ['admin'] }))).toEqual({
      subject: 'bob',
      roles: ['admin'],
    });
  });

  it('is valid until it expires, also if it is cached', async () => {
    const inAMinute = inSeconds(60);
    const session = { subject: 'alice', roles: [], expiresAt: new Date(inAMinute * 1000) };
    expect(await tokens.verify(signed({ sub: 'alice', exp: inAMinute }))).toEqual(session);
    await expect(tokens.verify(signed({ sub: 'alice', exp: inSeconds(-60) }))).rejects.toMatchObject({ code: 'token-expired' });
    // Expiry has whole seconds, and the current one may be almost over, so 1 could expire at once.
    const brief = await tokens.issue({ subject: 'alice', roles: [] }, 2);
    await tokens.verify(brief);
    await expect(untilRefused(brief)).resolves.toMatchObject({ code: 'token-expired' });
  });

  it.each([
    ['without signature', signed({ sub: 'alice' }, { alg: 'none' })],
    ['of another algorithm', signed({ sub: 'alice' }, { alg: 'HS512' })],
    ['signed with another secret', signed({ sub: 'alice' }, { secret: 'other' })],
    ['without a subject', signed({})],
    ['with an empty subject', signed({ sub: '' })],
    ['with a subject that contains NUL', signed({ sub: 'a\0b' })],
    ['with a subject that contains a lone surrogate', signed({ sub: 'a\ud800' })],
    ['with a number as subject', signed({ sub: 7 })],
    ['with a very long subject', signed({ sub: 'a'.repeat(257) })],
    ['that is very long', signed({ sub: 'a', more: 'x'.repeat(9000) })],
    ['that is not yet valid', signed({ sub: 'alice', nbf: inSeconds(3600) })],
    ['that is not a JWT', 'garbage'],
    ['that has three invalid parts', 'a.b.c'],
    ['that is empty', ''],
  ])('%s is invalid', async (_, token) => {
    await expect(tokens.verify(token)).rejects.toMatchObject({ name: 'Rejection', code: 'invalid-token' });
  });

  it('keeps only known roles', async () => {
    expect(await tokens.verify(signed({ sub: 'alice', roles: ['root', 'admin', 7] }))).toEqual({
      subject: 'alice',
      roles: ['admin'],
    });
    expect(await tokens.verify(signed({ sub: 'alice', roles: 'admin' }))).toEqual({ subject: 'alice', roles: [] });
  });

  it('is cached up to a maximum number', async () => {
    const few = new SessionTokens(SECRET);
    for (let user = 0; user <= REMEMBERED_TOKENS_MAX; user++) await few.verify(signed({ sub: `user-${user}` }));
    expect((few as unknown as { remembered: Map<string, unknown> }).remembered.size).toBe(REMEMBERED_TOKENS_MAX);
  });
});

const untilRefused = async (token: string): Promise<unknown> => {
  for (;;) {
    try {
      await tokens.verify(token);
    } catch (error) {
      return error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
