import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AGENT_KEY, callProbe, serveProbe } from '../../../test/support/identity-probe.js';
import { KeyValueUnavailable } from '../../kernel/messaging/key-value.js';
import { InProcessKeyValue } from '../../platform/messaging/key-value/in-process-key-value.js';
import { SessionTokens } from './session-tokens.js';

describe('wrong credentials', () => {
  const MAX = 3;
  const environment = {
    AUTH_TYPE: 'session_jwt',
    WRONG_CREDENTIALS_MAX_PER_MINUTE: String(MAX),
    GENERATED_TOKENS_MAX_PER_HOUR: '2',
    TRUSTED_PROXIES: '127.0.0.0/8',
  };
  let app: NestFastifyApplication;
  let alice: string;
  beforeAll(async () => {
    app = await serveProbe(environment);
    alice = await app.get(SessionTokens, { strict: false }).issue({ subject: 'alice', roles: [] });
  });
  afterAll(() => app.close());

  /** Each test calls from new addresses. */
  let clients = 0;
  const newClient = () => `203.0.113.${++clients}`;
  type Try = (from: string) => ReturnType<typeof callProbe>;
  const bearer: Try = (from) =>
    callProbe(app, '/api/me', undefined, { authorization: 'Bearer nonsense', 'x-forwarded-for': from });
  const key: Try = (from) => callProbe(app, '/api/caller', { api_key: 'unknown' }, { 'x-forwarded-for': from });
  const keyInBearer: Try = (from) =>
    callProbe(app, '/v1/caller', {}, { authorization: 'Bearer nonsense', 'x-forwarded-for': from });
  const statuses = async (count: number, wrong: Try, from: string): Promise<number[]> => {
    const all: number[] = [];
    for (let time = 0; time < count; time++) all.push((await wrong(from)).status);
    return all;
  };
  const refusal = { success: false, message: 'Too many wrong credentials', error: 'too_many_wrong_credentials' };

  it.each([
    ['bearers', bearer, refusal],
    ['keys', key, refusal],
    ['keys as bearers', keyInBearer, { error: { type: 'rate_limit_error', code: 'too_many_wrong_credentials' } }],
  ] as const)('are answered with 429 after too many of a client: %s', async (_, wrong, body) => {
    const from = newClient();
    expect(await statuses(MAX, wrong, from)).toEqual([401, 401, 401]);
    const refused = await wrong(from);
    expect(refused).toMatchObject({ status: 429, body });
    expect(Number(refused.retryAfter)).toBeGreaterThanOrEqual(1);
    expect(Number(refused.retryAfter)).toBeLessThanOrEqual(60 / MAX);
    expect((await wrong(newClient())).status).toBe(401);
  });

  it('of all kinds are counted together', async () => {
    const from = newClient();
    const answers = [await bearer(from), await key(from), await keyInBearer(from), await bearer(from), await key(from)];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 429, 429]);
  });

  it('do not affect valid credentials of the same client', async () => {
    const from = { 'x-forwarded-for': newClient() };
    await statuses(MAX + 1, key, from['x-forwarded-for']);
    const signedIn = { ...from, authorization: alice };
    expect((await callProbe(app, '/api/me', undefined, signedIn)).status).toBe(200);
    expect((await callProbe(app, '/api/caller', { api_key: AGENT_KEY }, from)).status).toBe(200);
    expect((await callProbe(app, '/v1/caller', {}, { ...from, authorization: AGENT_KEY })).status).toBe(200);
    expect((await callProbe(app, '/api/caller', {}, from)).body).toEqual({ kind: 'nobody' });
    // An unknown key is ignored if a user is signed in and the route needs only a session.
    expect((await callProbe(app, '/api/cause', { api_key: 'unknown' }, signedIn)).status).toBe(200);
  });

  it('do not include expired, missing and foreign-origin credentials', async () => {
    const from = newClient();
    const old = await app.get(SessionTokens, { strict: false }).issue({ subject: 'alice', roles: [] }, -60);
    const tries: Try[] = [
      () => callProbe(app, '/api/me', undefined, { authorization: old, 'x-forwarded-for': from }),
      () => callProbe(app, '/api/caller', { api_key: 'shop' }, { origin: 'https://other.example', 'x-forwarded-for': from }),
      () => callProbe(app, '/api/me', undefined, { 'x-forwarded-for': from }),
      () => callProbe(app, '/api/cause', { api_key: 'unknown' }, { authorization: alice, 'x-forwarded-for': from }),
    ];
    for (const one of tries) expect(await statuses(MAX + 1, one, from)).not.toContain(429);
    expect((await key(from)).status).toBe(401);
  });

  it('include the keys of drafts, so that a draft cannot be detected', async () => {
    const from = newClient();
    const draft: Try = () => callProbe(app, '/api/caller', { api_key: 'draft' }, { 'x-forwarded-for': from });
    expect(await statuses(MAX + 1, draft, from)).toEqual([401, 401, 401, 429]);
  });

  it('are counted once per request', async () => {
    const wrong: Try = (from) => callProbe(app, '/api/both', { api_key: 'unknown' }, { 'x-forwarded-for': from });
    expect(await statuses(MAX + 1, wrong, newClient())).toEqual([401, 401, 401, 429]);
  });

  it('are counted per /64 network for IPv6 addresses', async () => {
    expect(await statuses(MAX, key, '2001:db8:0:7::1')).toEqual([401, 401, 401]);
    expect((await key('2001:db8:0:7:1:2:3:4')).status).toBe(429);
    expect((await key('2001:db8:0:8::1')).status).toBe(401);
  });

  it('are counted for the address that the last proxy reports, not for one that the client sends', async () => {
    const from = newClient();
    await statuses(MAX, key, from);
    expect((await key(`198.51.100.1, ${from}`)).status).toBe(429);
    expect((await key(`${from}, 198.51.100.2`)).status).toBe(401);
  });

  it('are counted for the connection if no proxy is trusted', async () => {
    const direct = await serveProbe({ ...environment, TRUSTED_PROXIES: '' });
    const wrong: Try = (from) => callProbe(direct, '/api/caller', { api_key: 'unknown' }, { 'x-forwarded-for': from });
    expect(await statuses(MAX, wrong, newClient())).toEqual([401, 401, 401]);
    expect((await wrong(newClient())).status).toBe(429);
    await direct.close();
  });

  it('are answered with 401 while the counter is unavailable, and tokens are generated', async () => {
    class Away extends InProcessKeyValue {
      override get = () => Promise.reject(new KeyValueUnavailable('away'));
    }
    const uncounted = await serveProbe(environment, new Away());
    const wrong: Try = () => callProbe(uncounted, '/api/caller', { api_key: 'unknown' });
    expect(await statuses(MAX + 1, wrong, '')).toEqual([401, 401, 401, 401]);
    const token: Try = () => callProbe(uncounted, '/api/generate_token');
    expect(await statuses(3, token, '')).toEqual([200, 200, 200]);
    await uncounted.close();
  });

  it('are counted separately from new tokens, which have their own limit', async () => {
    const from = newClient();
    const token: Try = () => callProbe(app, '/api/generate_token', undefined, { 'x-forwarded-for': from });
    expect(await statuses(2, token, from)).toEqual([200, 200]);
    const refused = await token(from);
    expect(refused).toMatchObject({ status: 429, body: { success: false, error: 'too_many_requests' } });
    expect(Number(refused.retryAfter)).toBeGreaterThan(1700);
    expect(Number(refused.retryAfter)).toBeLessThanOrEqual(1800);
    expect((await key(from)).status).toBe(401);
  });

  it('are not limited if the limit is 0, and neither are new tokens', async () => {
    const open = await serveProbe({ ...environment, WRONG_CREDENTIALS_MAX_PER_MINUTE: '0', GENERATED_TOKENS_MAX_PER_HOUR: '0' });
    const wrong: Try = () => callProbe(open, '/api/caller', { api_key: 'unknown' });
    expect(new Set(await statuses(200, wrong, ''))).toEqual(new Set([401]));
    const token: Try = () => callProbe(open, '/api/generate_token');
    expect(new Set(await statuses(200, token, ''))).toEqual(new Set([200]));
    await open.close();
  });
});
