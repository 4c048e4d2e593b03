import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { REMEMBERED_TOKENS_MAX, SessionTokens } from './session-tokens.js';

const SECRET = 'short';
const tokens = new SessionTokens(SECRET);

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** A token as any other program would sign it. */
const signed = (claims: object, { alg = 'HS256', secret = SECRET } = {}) => {
  const text = `${encoded({ alg, typ: 'JWT' })}.${encoded(claims)}`;
  const digest = alg === 'HS512' ? 'sha512' : 'sha256';
  return `${text}.${alg === 'none' ? '' : createHmac(digest, secret).update(text).digest('base64url')}`;
};

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

describe('a session token', () => {
  it('names its user, also when another program signed it', async () => {
    expect(await tokens.verify(signed({ sub: 'alice' }))).toEqual({ subject: 'alice', roles: [] });
    expect(await tokens.verify(await tokens.issue({ subject: 'bob', roles: ['admin'] }))).toEqual({
      subject: 'bob',
      roles: ['admin'],
    });
  });

  it('is good until it expires, and says that it has, also when it is remembered', async () => {
    await expect(tokens.verify(signed({ sub: 'alice', exp: inSeconds(60) }))).resolves.toMatchObject({ subject: 'alice' });
    await expect(tokens.verify(signed({ sub: 'alice', exp: inSeconds(-60) }))).rejects.toMatchObject({ code: 'token-expired' });
    // Of whole seconds: one of them may be almost over.
    const brief = await tokens.issue({ subject: 'alice', roles: [] }, 2);
    await tokens.verify(brief);
    await expect(untilRefused(brief)).resolves.toMatchObject({ code: 'token-expired' });
  });

  it.each([
    ['without signature', signed({ sub: 'alice' }, { alg: 'none' })],
    ['of another algorithm', signed({ sub: 'alice' }, { alg: 'HS512' })],
    ['signed with another secret', signed({ sub: 'alice' }, { secret: 'other' })],
    ['of nobody', signed({})],
    ['of an empty name', signed({ sub: '' })],
    ['of a name with NUL', signed({ sub: 'a\0b' })],
    ['of a name with half a character', signed({ sub: 'a\ud800' })],
    ['of a number', signed({ sub: 7 })],
    ['of a very long name', signed({ sub: 'a'.repeat(257) })],
    ['that is very long', signed({ sub: 'a', more: 'x'.repeat(9000) })],
    ['not yet good', signed({ sub: 'alice', nbf: inSeconds(3600) })],
    ['that is no token', 'garbage'],
    ['that is no token in three parts', 'a.b.c'],
    ['of nothing', ''],
  ])('%s is invalid', async (_, token) => {
    await expect(tokens.verify(token)).rejects.toMatchObject({ name: 'Rejection', code: 'invalid-token' });
  });

  it('knows no roles but ours', async () => {
    expect(await tokens.verify(signed({ sub: 'alice', roles: ['root', 'admin', 7] }))).toEqual({
      subject: 'alice',
      roles: ['admin'],
    });
    expect(await tokens.verify(signed({ sub: 'alice', roles: 'admin' }))).toEqual({ subject: 'alice', roles: [] });
  });

  it('is remembered only among a bounded number', async () => {
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
