import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AGENT_KEY, callProbe, serveProbe } from '../../../test/support/identity-probe.js';
import { SessionTokens } from './session-tokens.js';

describe('with authentication off', () => {
  let app: NestFastifyApplication;
  beforeAll(async () => void (app = await serveProbe({})));
  afterAll(() => app.close());

  it('every caller is the local user, whatever the header contains', async () => {
    const { body, id } = await callProbe(app, '/api/me', undefined, { authorization: 'Bearer nonsense' });
    const cause = { actor: 'user:local', credential: 'none', correlationId: id, causationId: id };
    expect(body).toEqual({ kind: 'user', userId: 'local', roles: ['user'], credential: 'none', cause });
  });

  it('a page of another origin is refused without a key, and is not the local user with one', async () => {
    const origin = 'https://evil.example';
    expect(await callProbe(app, '/api/known', {}, { origin })).toMatchObject({
      status: 403,
      body: { error: 'origin_not_allowed' },
    });
    expect((await callProbe(app, '/api/known', {}, { origin: 'null' })).status).toBe(403);
    const keyed = await callProbe(app, '/api/known', { api_key: 'demo' }, { origin });
    expect(keyed.body).toMatchObject({ kind: 'agent-key', agentId: 'agent-2' });
    expect(keyed.body).not.toHaveProperty('signedIn');
    for (const more of [{ authorization: 'Bearer nonsense' }, { 'x-api-key': 'nonsense' }])
      expect((await callProbe(app, '/api/known', {}, { origin, ...more })).status).toBe(401);
  });

  it.each(['http://localhost:5173', 'http://127.0.0.1', 'http://[::1]:8080'])(
    'a page of this machine, %s, is the local user',
    async (origin) => {
      expect((await callProbe(app, '/api/known', {}, { origin })).body).toMatchObject({ userId: 'local' });
    },
  );

  it('a page of an allowed origin is the local user', async () => {
    const allowing = await serveProbe({ ALLOWED_ORIGINS: 'https://desk.example' });
    expect((await callProbe(allowing, '/api/known', {}, { origin: 'https://desk.example' })).status).toBe(200);
    await allowing.close();
  });

  it('an agent key identifies its agent', async () => {
    const { body } = await callProbe(app, '/api/caller', { api_key: 'demo' });
    expect(body).toMatchObject({ kind: 'agent-key', agentId: 'agent-2', ownerId: 'local', signedIn: { userId: 'local' } });
  });

  it('an unknown api_key leaves the user as the cause', async () => {
    expect((await callProbe(app, '/api/cause', { api_key: 'sk-of-a-model-provider' })).body).toMatchObject({
      actor: 'user:local',
    });
  });
});

describe('a GET that changes something', () => {
  let app: NestFastifyApplication;
  beforeAll(async () => void (app = await serveProbe({ ALLOWED_ORIGINS: 'https://desk.example' })));
  afterAll(() => app.close());

  /** Uses Node's own client, because `fetch` does not allow to set `Sec-Fetch-Site`. */
  const get = (path: string, headers: Record<string, string>, method = 'GET') =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const { port } = app.getHttpServer().address() as AddressInfo;
      const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      sent.on('error', reject).end();
    });

  it.each(['/api/delete_old?source_id=1', '/api/delete_old/', '/api/delete%5Fold', '/api/agent_webhook?id=1'])(
    'is refused to another site: %s',
    async (path) => {
      for (const more of [{}, { origin: 'https://evil.example' }, { authorization: 'Bearer x' }]) {
        const refused = await get(path, { 'sec-fetch-site': 'cross-site', ...more });
        expect(refused).toMatchObject({ status: 403, text: expect.stringContaining('origin_not_allowed') });
      }
      expect(await get(path, { 'sec-fetch-site': 'cross-site' }, 'HEAD')).toMatchObject({ status: 403 });
    },
  );

  it.each([
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'cross-site', origin: 'https://desk.example' },
    { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:5173' },
  ])('is accepted with %j', async (headers) => {
    expect(await get('/api/delete_old', headers)).toMatchObject({ status: 200 });
  });

  it('is not confused with other GETs and webhooks, which every site may request', async () => {
    for (const path of ['/api/me', '/api/webhooks/agents/token'])
      expect(await get(path, { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 200 });
  });
});

describe('with LOCAL_MODE_ADMIN', () => {
  it('the local user is an administrator', async () => {
    const app = await serveProbe({ LOCAL_MODE_ADMIN: 'true' });
    expect((await callProbe(app, '/api/me')).body).toMatchObject({ roles: ['user', 'admin'] });
    await app.close();
  });
});

describe('with session tokens', () => {
  let app: NestFastifyApplication;
  let alice: string;
  beforeAll(async () => {
    app = await serveProbe({ AUTH_TYPE: 'session_jwt' });
    alice = await app.get(SessionTokens, { strict: false }).issue({ subject: 'alice', roles: [] });
  });
  afterAll(() => app.close());

  it('a token identifies the user, with and without the word Bearer', async () => {
    for (const authorization of [`Bearer ${alice}`, `bearer ${alice}`, alice]) {
      const { body } = await callProbe(app, '/api/me', undefined, { authorization });
      expect(body).toMatchObject({ userId: 'alice', credential: 'session-token', cause: { actor: 'user:alice' } });
    }
  });

  it('a request without a credential is refused only on routes that need a caller', async () => {
    expect(await callProbe(app, '/api/me')).toMatchObject({ status: 401, body: { success: false, message: 'Unauthorized' } });
    expect(await callProbe(app, '/api/me', undefined, { authorization: 'Bearer ' })).toMatchObject({ status: 401 });
    expect(await callProbe(app, '/api/known', {})).toMatchObject({ status: 401 });
    expect(await callProbe(app, '/api/cause', {})).toMatchObject({ status: 401 });
    expect(await callProbe(app, '/api/caller', {})).toMatchObject({ status: 200, body: { kind: 'nobody' } });
  });

  it('a request without a credential is refused before anything waits for the position that it names', async () => {
    expect(await callProbe(app, '/api/me', undefined, { 'x-after-position': '41' })).toMatchObject({ status: 401 });
  });

  it.each(['/api/me', '/api/caller', '/api/known', '/api/cause', '/api/without-looking'])(
    'an invalid token is refused on %s even with a valid key',
    async (path) => {
      const body = path === '/api/me' ? undefined : { api_key: AGENT_KEY };
      const answer = await callProbe(app, path, body, { authorization: 'Bearer nonsense' });
      const refusal = { success: false, message: 'Authentication error: invalid token', error: 'invalid_token' };
      expect(answer).toMatchObject({ status: 401, body: refusal });
    },
  );

  it('an expired token is refused with its own error', async () => {
    const old = await app.get(SessionTokens, { strict: false }).issue({ subject: 'alice', roles: [] }, -60);
    const answer = await callProbe(app, '/api/me', undefined, { authorization: old });
    expect(answer).toMatchObject({ status: 401, body: { success: false, error: 'token_expired' } });
  });

  it('an invalid token is refused before the body is read', async () => {
    const { port } = app.getHttpServer().address() as AddressInfo;
    const headers = { 'content-type': 'application/json', authorization: 'nonsense' };
    const response = await fetch(`http://127.0.0.1:${port}/api/caller`, { method: 'POST', headers, body: '{' });
    expect(response.status).toBe(401);
  });

  it('an agent key is found in the body, the query and its header', async () => {
    const expected = {
      kind: 'agent-key',
      agentId: 'agent-1',
      ownerId: 'olga',
      keyId: 'key-1',
      cause: { actor: 'agent-key:key-1' },
    };
    expect((await callProbe(app, '/api/caller', { api_key: AGENT_KEY })).body).toMatchObject(expected);
    expect((await callProbe(app, `/api/caller?api_key=${AGENT_KEY}`, {})).body).toMatchObject(expected);
    expect((await callProbe(app, '/api/caller', {}, { 'x-api-key': AGENT_KEY })).body).toMatchObject(expected);
    expect((await callProbe(app, '/api/caller', { api_key: ' ' }, { 'x-api-key': AGENT_KEY })).body).toMatchObject(expected);
  });

  it('an agent key has priority over a token, and keeps the signed-in user', async () => {
    const { body } = await callProbe(app, '/api/caller', { api_key: AGENT_KEY }, { authorization: alice });
    expect(body).toMatchObject({ kind: 'agent-key', ownerId: 'olga', signedIn: { userId: 'alice' } });
    const { body: cause } = await callProbe(app, '/api/cause', { api_key: AGENT_KEY }, { authorization: alice });
    expect(cause).toMatchObject({ actor: 'agent-key:key-1', credential: 'agent-key' });
  });

  it.each(['/api/caller', '/api/known', '/api/cause'])('a key is accepted only from its allowed origins: %s', async (path) => {
    const from = (origin: string, headers = {}) => callProbe(app, path, { api_key: 'shop' }, { origin, ...headers });
    expect(await from('https://shop.example')).toMatchObject({ status: 200 });
    const refusal = { status: 403, body: { success: false, error: 'origin_not_allowed' } };
    expect(await from('https://other.example')).toMatchObject(refusal);
    expect(await from('https://other.example', { authorization: alice })).toMatchObject(refusal);
  });

  it('an agent key does not sign a user in', async () => {
    expect(await callProbe(app, `/api/me?api_key=${AGENT_KEY}`)).toMatchObject({ status: 401 });
  });

  it.each([
    ['an unknown key', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
    ['a very long key', 'x'.repeat(10_000)],
  ])('%s is refused', async (_, key) => {
    const answer = await callProbe(app, '/api/caller', { api_key: key });
    expect(answer).toMatchObject({ status: 401, body: { success: false, message: 'Invalid API key' } });
  });

  it('a key that is not a string is ignored, and a key is looked up only when it is needed', async () => {
    expect(await callProbe(app, '/api/caller', { api_key: { $ne: 1 } })).toMatchObject({ status: 200, body: { kind: 'nobody' } });
    expect(await callProbe(app, '/api/without-looking', { api_key: 'unknown' })).toMatchObject({
      status: 200,
      body: { user: null },
    });
  });

  it('on /v1 the bearer token is an agent key', async () => {
    const answer = await callProbe(app, '/v1/caller', {}, { authorization: `Bearer ${AGENT_KEY}` });
    expect(answer.body).toMatchObject({ kind: 'agent-key', agentId: 'agent-1' });
    const refused = await callProbe(app, '/v1/caller', {}, { authorization: 'Bearer nonsense' });
    expect(refused).toMatchObject({ status: 401, body: { error: { type: 'authentication_error' } } });
  });
});
