import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Backing, onPostgresAndNats } from '../../../../test/support/backing.js';
import { Client } from '../../../../test/support/client.js';
import { eventually } from '../../../../test/support/eventually.js';
import { BrowserForTests, IdentityProviderForTests } from '../../../../test/support/identity-provider.js';
import { serviceForTests, type TestService } from '../../../../test/support/service.js';

const FRONTEND = 'http://127.0.0.1:1';

let provider: IdentityProviderForTests;
let backing: Backing;
let one: TestService;
let other: TestService;
beforeAll(async () => {
  provider = await IdentityProviderForTests.started();
  backing = await onPostgresAndNats();
  const shared = async () => ({ ...backing, close: async () => undefined });
  const settings = { ...provider.environment, OIDC_FRONTEND_URL: FRONTEND };
  one = await serviceForTests(settings, shared);
  // Browsers use one address, and a load balancer passes them to either process.
  other = await serviceForTests({ ...settings, OIDC_REDIRECT_URI: `${one.url}/api/auth/oidc/callback` }, shared);
  await provider.serve(one.url, FRONTEND);
});
afterAll(async () => {
  await one.close();
  await other.close();
  await backing.close();
  await provider.close();
});

const post = async (service: TestService, path: string, body: object, headers: Record<string, string> = {}) => {
  const response = await fetch(`${service.url}/api/auth/oidc/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
};

/** Runs each step at another process than the one before. */
async function signIn(): Promise<string> {
  const browser = new BrowserForTests();
  const login = await browser.request(`${other.url}/api/auth/oidc/login`);
  // The cookie belongs to the shared address, no matter which process set it.
  const cookie = login.headers.getSetCookie()[0]!.split(';', 1)[0]!;
  const callback = await browser.follow(login.headers.get('location')!, `${one.url}/api/auth/oidc/callback`);
  const back = await fetch(callback, { redirect: 'manual', headers: { cookie } });
  const code = back.headers.get('location')!.split('oidc_code=')[1]!;
  return (await post(other, 'token', { code })).body['token']!;
}

const clientOf = (service: TestService, token: string) => new Client(service.url, { authorization: `Bearer ${token}` });
const sessionIn = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { jti: string }).jti.split('.')[0]!;

/** Reads a stream. `text` grows with its frames, and `isOver` is set at its end. */
async function streamOf(client: Client, path: string): Promise<{ text: string; isOver: boolean }> {
  const response = await client.get(path);
  expect(response.status).toBe(200);
  const seen = { text: '', isOver: false };
  void (async () => {
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) seen.text += part;
    seen.isOver = true;
  })();
  await eventually(() => seen.text !== '');
  return seen;
}

it('a sign-in continues at any process, and a user has the same id at all of them', async () => {
  const token = await signIn();
  const [here, there] = [await clientOf(one, token).json('/api/user/me'), await clientOf(other, token).json('/api/user/me')];
  expect(here).toEqual(there);
  expect(here).toMatchObject({ success: true, user_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
});

it('a session is renewed once per token, even by concurrent requests to both processes', async () => {
  const [first, second] = [await signIn(), await signIn()];
  const refresh = (service: TestService, token: string) => post(service, 'refresh', {}, { authorization: `Bearer ${token}` });
  for (const token of [first, second]) {
    const both = await Promise.all([refresh(one, token), refresh(other, token)]);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  }
});

it('a session that one process ends is refused by the other, and its streams there end without a frame', async () => {
  const token = await signIn();
  const streams = [await streamOf(clientOf(one, token), '/api/events'), await streamOf(clientOf(other, token), '/api/events')];
  expect((await clientOf(one, token).delete(`/api/user/sessions/${sessionIn(token)}`)).status).toBe(200);
  await eventually(() => streams.every(({ isOver }) => isOver));
  expect(streams.map(({ text }) => text)).toEqual([': connected\n\n', ': connected\n\n']);
  for (const service of [one, other]) {
    expect((await clientOf(service, token).get('/api/events')).status).toBe(401);
    expect((await clientOf(service, token).get('/api/user/me')).status).toBe(401);
  }
});

it('a logout at the provider ends the session at the other process too', async () => {
  const token = await signIn();
  const stream = await streamOf(clientOf(other, token), '/api/events');
  const response = await fetch(`${one.url}/api/auth/oidc/backchannel-logout`, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: await provider.logoutToken({ sub: 'ann' }) }),
  });
  expect(response.status).toBe(200);
  await eventually(() => stream.isOver);
  expect(stream.text).toBe(': connected\n\n');
  expect((await clientOf(other, token).get('/api/user/me')).status).toBe(401);
});
