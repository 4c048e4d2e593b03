import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { BrowserForTests, IdentityProviderForTests } from '../../../../test/support/identity-provider.js';
import { serviceForTests, type TestService } from '../../../../test/support/service.js';
import { LOG_START } from '../../../kernel/event-sourcing/event-store.js';

const FRONTEND = 'http://127.0.0.1:1';

let provider: IdentityProviderForTests;
let service: TestService;
let logged = '';
beforeAll(async () => {
  provider = await IdentityProviderForTests.started();
  const lines = new Writable({
    write(chunk: Buffer, _, done) {
      logged += chunk.toString();
      done();
    },
  });
  const environment = { ...provider.environment, OIDC_FRONTEND_URL: FRONTEND, LOG_LEVEL: 'trace' };
  service = await serviceForTests(environment, undefined, pino({ level: 'trace' }, lines));
  await provider.serve(service.url, FRONTEND);
});
afterAll(async () => {
  await service.close();
  await provider.close();
});

it('no event, log line, metric, row or other response contains a token, a code or a secret', async () => {
  const secrets = new Map<string, string>();
  const responses: string[] = [];
  const seen = async (response: Response): Promise<string> => {
    const text = await response.text();
    responses.push(text, JSON.stringify([...response.headers]));
    return text;
  };
  const at = (path: string) => `${service.url}/api/auth/oidc/${path}`;
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(at(path), { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });

  const browser = new BrowserForTests();
  const callback = new URL(await browser.follow(at('login'), at('callback')));
  for (const name of ['code', 'state']) secrets.set(`the ${name} of the callback`, callback.searchParams.get(name)!);
  const code = (await browser.follow(callback.href, FRONTEND)).split('oidc_code=')[1]!;
  secrets.set('the code of the hand-over', code);
  const { token } = (await (await post('token', { code })).json()) as { token: string };
  secrets.set('the first token', token);
  const renewed = (await (await post('refresh', {}, { authorization: `Bearer ${token}` })).json()) as { token: string };
  secrets.set('the second token', renewed.token);

  // Responses to replayed, wrong and failed requests do not repeat the secret.
  await seen(await browser.request(callback.href));
  await seen(await post('token', { code }));
  await seen(await post('refresh', {}, { authorization: `Bearer ${token}` }));
  provider.refusesTokens = true;
  await seen(await post('refresh', {}, { authorization: `Bearer ${renewed.token}` }));
  await browser.follow(at('login'), FRONTEND);
  const logoutToken = await provider.logoutToken({ sub: 'ann', aud: 'another' });
  secrets.set('a logout token', logoutToken);
  await seen(await post('backchannel-logout', { logout_token: logoutToken }));
  const bearer = { authorization: `Bearer ${renewed.token}` };
  for (const path of ['/api/user/me', '/api/user/sessions', '/api/audit/events', '/api/config', '/metrics', '/api/ready'])
    await seen(await fetch(service.url + path, { headers: bearer }));
  await seen(await fetch(`${service.url}/api/user/me?token=x`, { headers: { authorization: `Bearer ${renewed.token}x` } }));
  provider.secrets.forEach((secret) => secrets.set(`a secret of the provider (${secret.slice(0, 5)}…)`, secret));

  const events: string[] = [];
  for await (const page of service.backing.store.readAll({ after: LOG_START }))
    for (const { stream, data, metadata } of page.events) events.push(stream, data, metadata);
  const { sql } = service.database;
  const rows = [...(await sql`select *, encode(refresh_token, 'escape') as escaped from identity.session`)];
  rows.push(...(await sql`select * from identity.user_account`));
  const places = { events: events.join('\n'), log: logged, responses: responses.join('\n'), rows: JSON.stringify(rows) };
  expect(logged).toContain('was not renewed');
  expect(secrets.size).toBeGreaterThan(9);
  for (const [name, secret] of secrets)
    for (const [place, text] of Object.entries(places))
      expect({ name, place, holds: text.includes(secret) }).toEqual({ name, place, holds: false });
});
