import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { generateKeyPair } from 'jose';
import { Client } from '../../../../test/support/client.js';
import { eventually } from '../../../../test/support/eventually.js';
import { BrowserForTests, IdentityProviderForTests } from '../../../../test/support/identity-provider.js';
import { LOG_START } from '../../../kernel/event-sourcing/event-store.js';
import { serviceForTests, type TestService } from '../../../../test/support/service.js';

const FRONTEND = 'http://127.0.0.1:1';
const EMAIL = 'ann@example.org';

let provider: IdentityProviderForTests;
let service: TestService;
beforeAll(async () => {
  provider = await IdentityProviderForTests.started();
  provider.users.set('ann', { email: EMAIL, email_verified: true, name: 'Ann', groups: ['staff', 'chiefs'] });
  provider.users.set('bob', { email: 'bob@example.org', email_verified: false, name: 'Bob', groups: ['staff'] });
  provider.users.set('eve', { name: 'Eve', groups: ['guests'] });
  provider.users.set('none', { name: 'Without groups' });
  service = await serviceForTests({ ...provider.environment, OIDC_FRONTEND_URL: FRONTEND, OIDC_PROVIDER_NAME: 'House' });
  await provider.serve(service.url, FRONTEND);
});
afterAll(async () => {
  await service.close();
  await provider.close();
});
afterEach(() => {
  Object.assign(provider, { signsIn: 'ann', refusesTokens: false, isAway: false, alter: undefined, grantsRefreshTokens: true });
});

const at = (path: string) => `${service.url}/api/auth/oidc/${path}`;
const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(at(path), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Record<string, string>,
  };
};

/** The part after the `#` of the URL, which the web client reads when the browser returns. */
const outcomeOf = (url: string) => url.slice(`${FRONTEND}/#`.length);
const login = async (who = 'ann', browser = new BrowserForTests()) => {
  provider.signsIn = who;
  return outcomeOf(await browser.follow(at('login'), FRONTEND));
};
const handOver = (outcome: string) => post('token', { code: outcome.slice('oidc_code='.length) });
const signIn = async (who = 'ann'): Promise<string> => (await handOver(await login(who))).body['token']!;
const clientOf = (token: string) => new Client(service.url, { authorization: `Bearer ${token}` });
const refresh = (token: string) => post('refresh', {}, { authorization: `Bearer ${token}` });
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
const logout = (token: unknown) =>
  fetch(at('backchannel-logout'), { method: 'POST', body: new URLSearchParams({ logout_token: String(token) }) });

describe('a sign-in', () => {
  it('returns a token of a user with an opaque id', async () => {
    const outcome = await login();
    expect(outcome).toMatch(/^oidc_code=[\w-]{43}$/);
    const { status, headers, body } = await handOver(outcome);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(Object.keys(body)).toEqual(['token']);
    const claims = claimsOf(body['token']!);
    expect(Object.keys(claims).sort()).toEqual(['email', 'exp', 'iat', 'jti', 'name', 'oidc_sid', 'oidc_sub', 'sub']);
    expect(claims).toMatchObject({ oidc_sub: 'ann', email: EMAIL, name: 'Ann' });
    expect(Number(claims['exp']) - Number(claims['iat'])).toBeGreaterThan(28_000);
    const me = await clientOf(body['token']!).json('/api/user/me');
    expect(me).toEqual({ success: true, user_id: claims['sub'], roles: ['user'], email: EMAIL, name: 'Ann' });
    expect(me['user_id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('starts with a redirect that is bound to the browser by a cookie', async () => {
    const response = await fetch(at('login'), { redirect: 'manual' });
    expect(response.status).toBe(302);
    const url = new URL(response.headers.get('location')!);
    expect(url.origin).toBe(provider.issuer);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      nonce: expect.any(String),
      scope: 'openid email profile',
      redirect_uri: at('callback'),
    });
    const [cookie, ...attributes] = response.headers.get('set-cookie')!.split('; ');
    expect(cookie).toMatch(new RegExp(`^oidc_state_[0-9a-f]{16}=${url.searchParams.get('state')}$`));
    expect(attributes).toEqual(['Max-Age=600', 'Path=/api/auth/oidc/', 'HttpOnly', 'SameSite=Lax']);
  });

  it('gives the same user id each time, and another one for another subject', async () => {
    const ids: unknown[] = [];
    for (const who of ['ann', 'ann', 'bob']) ids.push(claimsOf(await signIn(who))['sub']);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('appears in the configuration that clients read', async () => {
    expect(await new Client(service.url).json('/api/config')).toMatchObject({
      auth_type: 'oidc',
      requires_auth: true,
      oidc: { login_path: '/api/auth/oidc/login', logout_path: '/api/auth/oidc/logout', provider_name: 'House' },
    });
  });

  it('hands its token over once', async () => {
    const outcome = await login();
    const both = await Promise.all([handOver(outcome), handOver(outcome)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401]);
    expect(await handOver(outcome)).toMatchObject({ status: 401, body: { error: 'invalid_code' } });
  });

  it.each([{}, { code: 7 }, { code: '' }, { code: 'unknown' }, [], null])('returns no token for %j', async (body) => {
    expect(await post('token', body)).toMatchObject({ status: body === null ? 400 : 401 });
  });
});

describe('a callback', () => {
  /** Runs a sign-in up to the callback URL to which the provider redirects the browser. */
  const returned = async (browser = new BrowserForTests()): Promise<URL> =>
    new URL(await browser.follow(at('login'), at('callback')));
  const outcomeAt = async (url: URL, browser: BrowserForTests) => outcomeOf(await browser.follow(url.href, FRONTEND));

  it('in another browser is refused (login CSRF)', async () => {
    const attackers = await returned();
    expect(await outcomeAt(attackers, new BrowserForTests())).toBe('oidc_error=invalid_state');
    const victim = new BrowserForTests();
    await victim.request(at('login'));
    expect(await outcomeAt(attackers, victim)).toBe('oidc_error=invalid_state');
  });

  it('is accepted once', async () => {
    const browser = new BrowserForTests();
    const login = await browser.request(at('login'));
    const cookie = login.headers.get('set-cookie')!.split(';', 1)[0]!;
    const url = new URL(await browser.follow(login.headers.get('location')!, at('callback')));
    expect(await outcomeAt(url, browser)).toMatch(/^oidc_code=/);
    const again = await fetch(url, { redirect: 'manual', headers: { cookie } });
    expect(again.headers.get('location')).toBe(`${FRONTEND}/#oidc_error=invalid_state`);
  });

  it('is accepted for each tab of a browser that signs in in two tabs at the same time', async () => {
    const browser = new BrowserForTests();
    const [first, second] = [await returned(browser), await returned(browser)];
    for (const url of [first, second]) expect(await outcomeAt(url, browser)).toMatch(/^oidc_code=/);
  });

  it.each([
    ['with another code', (url: URL) => url.searchParams.set('code', 'another'), 'auth_failed'],
    ['without a code', (url: URL) => url.searchParams.delete('code'), 'auth_failed'],
    ['of another issuer (mix-up)', (url: URL) => url.searchParams.set('iss', 'https://evil.example'), 'auth_failed'],
    ['with a refusal of the provider', (url: URL) => url.searchParams.set('error', 'access_denied'), 'auth_failed'],
    ['without a state', (url: URL) => url.searchParams.delete('state'), 'invalid_state'],
    ['with another state', (url: URL) => url.searchParams.set('state', 'x'), 'invalid_state'],
  ] as const)('%s is an error', async (_, change, error) => {
    const browser = new BrowserForTests();
    const url = await returned(browser);
    change(url);
    expect(await outcomeAt(url, browser)).toBe(`oidc_error=${error}`);
  });

  it('redirects only to the web client (open redirect)', async () => {
    const browser = new BrowserForTests();
    const url = await returned(browser);
    for (const name of ['redirect_uri', 'return_to', 'next', 'url']) url.searchParams.set(name, 'https://evil.example/');
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const response = await browser.request(url.href, { headers });
    expect(response.headers.get('location')).toMatch(new RegExp(`^${FRONTEND}/#oidc_(code|error)=`));
    const out = await fetch(at('logout?post_logout_redirect_uri=https://evil.example/'), { redirect: 'manual' });
    expect(new URL(out.headers.get('location')!).searchParams.get('post_logout_redirect_uri')).toBe(FRONTEND);
  });

  it.each([
    ['a nonce of another sign-in', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['another client', { aud: 'another' }],
    ['a past expiry', { exp: Math.floor(Date.now() / 1000) - 3600 }],
  ])('is an error if the ID token has %s', async (_, claims) => {
    provider.alter = async (body) => ({
      ...body,
      id_token: await provider.signed({ ...claimsOf(String(body['id_token'])), ...claims }),
    });
    expect(await login()).toBe('oidc_error=auth_failed');
  });

  it('is an error if the ID token is signed with another key', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    provider.alter = async (body) => ({
      ...body,
      id_token: await provider.signed(claimsOf(String(body['id_token'])), privateKey),
    });
    expect(await login()).toBe('oidc_error=auth_failed');
  });

  it('and its renewal are accepted at once if the provider signs with a newer key than those that were fetched', async () => {
    await signIn();
    const key = await provider.addKey('key-of-sign-in', service.url, FRONTEND);
    const token = await signIn();
    provider.alter = async (body) => ({
      ...body,
      id_token: await provider.signed(claimsOf(String(body['id_token'])), key, 'key-of-sign-in'),
    });
    expect((await refresh(token)).status).toBe(200);
    const newest = await provider.addKey('newest-key', service.url, FRONTEND);
    provider.alter = async (body) => ({
      ...body,
      id_token: await provider.signed(claimsOf(String(body['id_token'])), newest, 'newest-key'),
    });
    expect(await login()).toMatch(/^oidc_code=/);
  });

  it('is an error while the provider is away', async () => {
    const browser = new BrowserForTests();
    const url = await returned(browser);
    provider.isAway = true;
    expect(await outcomeAt(url, browser)).toBe('oidc_error=auth_failed');
  });
});

describe('a session', () => {
  it('is listed for its user only', async () => {
    const [ann, bob] = [clientOf(await signIn()), clientOf(await signIn('bob'))];
    const { sessions } = await ann.json<{ sessions: Record<string, unknown>[] }>('/api/user/sessions');
    expect(sessions.filter(({ current }) => current)).toEqual([
      {
        id: expect.any(String),
        client: 'node',
        started_at: expect.any(String),
        renewed_at: null,
        expires_at: expect.any(String),
        current: true,
      },
    ]);
    const theirs = await bob.json<{ sessions: Record<string, unknown>[] }>('/api/user/sessions');
    const ids = new Set(sessions.map(({ id }) => id));
    expect(theirs.sessions.some(({ id }) => ids.has(id))).toBe(false);
    for (const id of [...ids, 'x', crypto.randomUUID()])
      expect((await bob.delete(`/api/user/sessions/${String(id)}`)).status).toBe(404);
    expect((await ann.get('/api/user/me')).status).toBe(200);
  });

  it('that has ended is refused, and so is its renewal', async () => {
    const token = await signIn();
    const id = String(claimsOf(token)['jti']).split('.')[0]!;
    expect((await clientOf(token).delete(`/api/user/sessions/${id}`)).status).toBe(200);
    const refused = await clientOf(token).get('/api/user/me');
    expect([refused.status, await refused.json()]).toEqual([401, expect.objectContaining({ error: 'token_revoked' })]);
    expect(await refresh(token)).toMatchObject({ status: 401, body: { error: 'token_revoked' } });
  });

  it('that ends closes its streams without a further frame', async () => {
    const [token, other] = [await signIn(), await signIn()];
    const response = await clientOf(token).get('/api/events');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    const beginning = (await reader.read()).value;
    const id = String(claimsOf(token)['jti']).split('.')[0]!;
    await clientOf(other).delete(`/api/user/sessions/${id}`);
    let rest = '';
    for (let next = await reader.read(); !next.done; next = await reader.read()) rest += next.value;
    expect([beginning, rest]).toEqual([': connected\n\n', '']);
    expect((await clientOf(token).get('/api/events')).status).toBe(401);
  });

  it('that expires closes its streams without a further frame', async () => {
    const token = await signIn();
    const stream = await clientOf(token).get('/api/events');
    const id = String(claimsOf(token)['jti']).split('.')[0]!;
    await service.database.sql`update identity.session set expires_at = now() where session_id = ${id}`;
    expect(await stream.text()).toBe(': connected\n\n');
    expect((await clientOf(token).get('/api/events')).status).toBe(401);
  });

  it('of another AUTH_TYPE is refused, and its tokens are refused there', async () => {
    const token = await signIn();
    const { SessionTokens } = await import('../session-tokens.js');
    const own = await service.service.app.get(SessionTokens, { strict: false }).issue({ subject: 'ann', roles: ['admin'] });
    expect((await clientOf(own).get('/api/user/me')).status).toBe(401);
    await service.restart({ AUTH_TYPE: 'session_jwt' });
    expect((await clientOf(token).get('/api/user/me')).status).toBe(401);
    const elsewhere = await clientOf(own).json('/api/user/me');
    expect(elsewhere['user_id']).not.toBe(claimsOf(token)['sub']);
    expect(await clientOf(own).json('/api/user/sessions')).toEqual({ success: true, sessions: [] });
    for (const path of ['login', 'callback', 'logout'])
      expect(await (await fetch(at(path))).json()).toMatchObject({ success: false, error: 'oidc_not_enabled' });
    for (const path of ['token', 'refresh', 'backchannel-logout'])
      expect(await post(path, {})).toMatchObject({ status: 404, body: { error: 'oidc_not_enabled' } });
    await service.restart();
    expect((await clientOf(token).get('/api/user/me')).status).toBe(200);
  });
});

describe('a renewal', () => {
  it('returns a new token of the same session with the provider’s current claims', async () => {
    const token = await signIn('bob');
    provider.users.set('bob', { ...provider.users.get('bob'), name: 'Robert' });
    const { status, body } = await refresh(token);
    expect(status).toBe(200);
    expect(claimsOf(body['token']!)).toMatchObject({ name: 'Robert', sub: claimsOf(token)['sub'], oidc_sub: 'bob' });
    expect(claimsOf(body['token']!)['jti']).not.toBe(claimsOf(token)['jti']);
    expect((await clientOf(body['token']!).json('/api/user/me'))['name']).toBe('Robert');
    expect((await refresh(body['token']!)).status).toBe(200);
  });

  it('succeeds once per token, also for replayed and concurrent requests', async () => {
    const token = await signIn();
    const both = await Promise.all([refresh(token), refresh(token)]);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await refresh(token)).toMatchObject({ status: 404, body: { error: 'no_refresh_token' } });
  });

  it('is 503 while another tab renews the session, because clients give up after 404', async () => {
    const token = await signIn();
    let other: Awaited<ReturnType<typeof refresh>> | undefined;
    provider.alter = async (body) => {
      provider.alter = undefined;
      other = await refresh(token);
      return body;
    };
    expect((await refresh(token)).status).toBe(200);
    expect(other).toMatchObject({ status: 503, body: { error: 'refresh_unavailable' } });
  });

  it('is refused if the provider issues no refresh token', async () => {
    provider.grantsRefreshTokens = false;
    expect(await refresh(await signIn())).toMatchObject({ status: 404, body: { error: 'no_refresh_token' } });
  });

  it('is 503 while the provider is unavailable, and succeeds when it is back', async () => {
    const token = await signIn();
    provider.isAway = true;
    const refused = await refresh(token);
    expect(refused).toMatchObject({ status: 503, body: { error: 'refresh_unavailable' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await clientOf(token).get('/api/user/me')).status).toBe(200);
    provider.isAway = false;
    expect((await refresh(token)).status).toBe(200);
  });

  it('fails permanently if the provider refuses the refresh token', async () => {
    const token = await signIn();
    provider.refusesTokens = true;
    expect(await refresh(token)).toMatchObject({ status: 401, body: { error: 'refresh_failed' } });
    expect(await refresh(token)).toMatchObject({ status: 404, body: { error: 'no_refresh_token' } });
  });

  it('is refused if the provider returns another user', async () => {
    const token = await signIn();
    provider.alter = async (body) => ({
      ...body,
      id_token: await provider.signed({ ...claimsOf(String(body['id_token'])), sub: 'eve' }),
    });
    expect(await refresh(token)).toMatchObject({ status: 401, body: { error: 'refresh_failed' } });
  });

  it('is refused without a token and for an invalid one', async () => {
    expect((await post('refresh', {})).status).toBe(401);
    expect(await refresh('x.y.z')).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
  });
});

describe('a logout at the provider', () => {
  const sessionOf = async (who = 'ann') => {
    const token = await signIn(who);
    return { token, sid: claimsOf(token)['oidc_sid'], status: async () => (await clientOf(token).get('/api/user/me')).status };
  };

  it('ends the session that it names, and no other', async () => {
    const [one, other] = [await sessionOf(), await sessionOf()];
    const response = await logout(await provider.logoutToken({ sub: 'ann', sid: one.sid }));
    expect([response.status, await response.text(), response.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
    expect([await one.status(), await other.status()]).toEqual([401, 200]);
  });

  it('ends all sessions of a user if it names no session', async () => {
    const [one, other, bobs] = [await sessionOf(), await sessionOf(), await sessionOf('bob')];
    expect((await logout(await provider.logoutToken({ sub: 'ann' }))).status).toBe(200);
    expect([await one.status(), await other.status(), await bobs.status()]).toEqual([401, 401, 200]);
  });

  it('is accepted once', async () => {
    const token = await provider.logoutToken({ sub: 'nobody' });
    expect((await logout(token)).status).toBe(200);
    expect((await logout(token)).status).toBe(400);
  });

  it('is accepted from a provider whose clock is two minutes ahead', async () => {
    const iat = Math.floor(Date.now() / 1000) + 120;
    expect((await logout(await provider.logoutToken({ sub: 'nobody', iat }))).status).toBe(200);
  });

  it('is accepted if its key is newer than the keys that were fetched a moment ago', async () => {
    expect((await logout(await provider.logoutToken({ sub: 'nobody' }))).status).toBe(200);
    const key = await provider.addKey('key-2', service.url, FRONTEND);
    // Keys are fetched at most once a second.
    await eventually(
      async () => (await logout(await provider.logoutToken({ sub: 'nobody' }, key, 'key-2'))).status === 200,
      10_000,
    );
  });

  it('is refused unless its token is a current logout token of the provider for this client', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const seconds = Math.floor(Date.now() / 1000);
    const session = await sessionOf();
    const about = { sub: 'ann', sid: session.sid };
    for (const token of [
      '',
      'x',
      await provider.logoutToken(about, privateKey),
      await provider.logoutToken({ ...about, iss: 'https://evil.example' }),
      await provider.logoutToken({ ...about, aud: 'another' }),
      await provider.logoutToken({ ...about, nonce: 'n' }),
      await provider.logoutToken({ ...about, events: {} }),
      await provider.logoutToken({ ...about, events: undefined }),
      await provider.logoutToken({ ...about, iat: seconds - 3600 }),
      await provider.logoutToken({ ...about, iat: undefined }),
      await provider.logoutToken({ ...about, jti: undefined }),
      await provider.logoutToken({}),
      await provider.logoutToken({ sid: 7 }),
    ]) {
      const response = await logout(token);
      expect([response.status, response.headers.get('cache-control')]).toEqual([400, 'no-store']);
    }
    expect(await session.status()).toBe(200);
  });

  it('is sent by the provider when the user signs out there', async () => {
    const browser = new BrowserForTests();
    const { body } = await handOver(await login('ann', browser));
    const out = await browser.request((await fetch(at('logout'), { redirect: 'manual' })).headers.get('location')!);
    const page = await out.text();
    const action = /action="([^"]+)"/.exec(page)![1]!;
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)![1]!;
    const confirmed = await browser.request(action, { method: 'POST', body: new URLSearchParams({ xsrf, logout: 'yes' }) });
    expect(confirmed.headers.get('location')).toContain(FRONTEND);
    await eventually(async () => (await clientOf(body['token']!).get('/api/user/me')).status === 401);
  });
});

describe('groups', () => {
  beforeAll(() => service.restart({ OIDC_ALLOWED_GROUPS: 'staff', OIDC_ADMIN_GROUPS: 'chiefs' }));
  afterAll(() => service.restart());
  const rolesOf = async (token: string) => (await clientOf(token).json('/api/user/me'))['roles'];

  it('admit only their members', async () => {
    expect(await login('bob')).toMatch(/^oidc_code=/);
    expect(await login('eve')).toBe('oidc_error=not_authorized');
    expect(await login('none')).toBe('oidc_error=not_authorized');
  });

  it('make administrators by the provider’s latest answer', async () => {
    const [ann, bob] = [await signIn('ann'), await signIn('bob')];
    expect([await rolesOf(ann), await rolesOf(bob)]).toEqual([['user', 'admin'], ['user']]);
    provider.users.set('bob', { ...provider.users.get('bob'), groups: ['staff', 'chiefs'] });
    const renewed = (await refresh(bob)).body['token']!;
    expect(await rolesOf(renewed)).toEqual(['user', 'admin']);
    provider.users.set('bob', { name: 'Bob' });
    const unsaid = (await refresh(renewed)).body['token']!;
    expect(await rolesOf(unsaid)).toEqual(['user', 'admin']);
    provider.users.set('bob', { name: 'Bob', groups: ['staff'] });
    expect(await rolesOf((await refresh(unsaid)).body['token']!)).toEqual(['user']);
  });

  it('end a session at its next renewal if the user has left them', async () => {
    const token = await signIn('bob');
    provider.users.set('bob', { name: 'Bob', groups: [] });
    expect(await refresh(token)).toMatchObject({ status: 401, body: { error: 'not_authorized' } });
    expect((await clientOf(token).get('/api/user/me')).status).toBe(401);
    provider.users.set('bob', { name: 'Bob', groups: ['staff'] });
  });
});

it('a client that starts too many sign-ins gets 429', async () => {
  const statuses = new Set<number>();
  for (let time = 0; time < 100 && !statuses.has(429); time++) {
    const some = Array.from({ length: 50 }, () => fetch(at('login'), { redirect: 'manual' }));
    for (const response of await Promise.all(some)) {
      statuses.add(response.status);
      if (response.status === 429) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      await response.body?.cancel();
    }
  }
  expect(statuses).toEqual(new Set([302, 429]));
  await service.restart();
});

it('an expired token cannot renew its session', async () => {
  await service.restart({ OIDC_SESSION_LIFETIME_SECONDS: '1' });
  let token = '';
  // On a busy machine, a session may expire before its token is fetched.
  await eventually(async () => (token = await signIn()) !== undefined);
  await eventually(async () => (await refresh(token)).body['error'] === 'token_expired');
  expect(await (await clientOf(token).get('/api/user/me')).json()).toMatchObject({ error: 'token_expired' });
  await service.restart();
});

it('a sign-in without a verified e-mail address is refused if the e-mail address identifies users', async () => {
  await service.restart({ OIDC_USER_ID_CLAIM: 'email' });
  provider.users.set('bob', { email: EMAIL, email_verified: false, name: 'Bob' });
  expect(await login('bob')).toBe('oidc_error=missing_claim');
  expect(await login('eve')).toBe('oidc_error=missing_claim');
  expect(await login('ann')).toMatch(/^oidc_code=/);
  await service.restart();
});

it('a sign-in is 503 while the provider has never been reached, and succeeds when it is back', async () => {
  provider.isAway = true;
  await service.restart();
  const refused = await fetch(at('login'), { redirect: 'manual' });
  expect([refused.status, await refused.json()]).toEqual([503, expect.objectContaining({ error: 'idp_unavailable' })]);
  expect((await logout(await provider.logoutToken({ sub: 'ann' }))).status).toBe(502);
  expect((await fetch(at('logout'), { redirect: 'manual' })).headers.get('location')).toBe(FRONTEND);
  provider.isAway = false;
  expect(await login()).toMatch(/^oidc_code=/);
});

it('the log records sign-ins, their ends and refusals, without secrets and names', async () => {
  const { store } = service.backing;
  const types = new Set<string>();
  const credentials: Record<string, unknown> = {};
  for await (const page of store.readAll({ after: LOG_START })) {
    for (const { type, stream, data, metadata } of page.events) {
      types.add(type);
      if (type === 'SessionStarted' || type === 'SignInRefused')
        credentials[type] = (JSON.parse(metadata) as Record<string, unknown>)['credential'];
      expect(`${stream} ${data} ${metadata}`).not.toMatch(/ann@|bob@|eyJ|oidc_code/);
    }
  }
  expect([...types]).toEqual(expect.arrayContaining(['SessionStarted', 'SessionEnded', 'SignInRefused']));
  expect(credentials).toEqual({ SessionStarted: 'identity-provider', SignInRefused: 'identity-provider' });
});
