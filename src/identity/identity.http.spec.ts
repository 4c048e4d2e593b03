import type { AddressInfo } from 'node:net';
import { Controller, Get, HttpCode, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Cause } from '../kernel/events.js';
import { Config, readConfig } from '../platform/config/config.js';
import { createHttpApp } from '../platform/http/http-server.js';
import { AgentKeyDirectory, type AgentKeyHolder } from './agent-key-directory.port.js';
import { agentKeyHash, newAgentKey } from './agent-keys.policy.js';
import type { Caller, SignedInUser } from './caller.js';
import { CurrentCaller, CurrentUser, KnownCaller, RequestCause, RequestIdentity } from './identity.http.js';
import { IdentityModule } from './identity.module.js';
import type { Identity } from './identity.js';
import { SessionTokens } from './session-tokens.js';

@Controller()
class Probe {
  @Get('api/me')
  me(@CurrentUser() user: SignedInUser) {
    return user;
  }

  @Post(['api/caller', 'v1/caller'])
  @HttpCode(200)
  caller(@CurrentCaller() caller: Caller | undefined) {
    return caller ?? { kind: 'nobody' };
  }

  @Post('api/known')
  @HttpCode(200)
  known(@KnownCaller() caller: Caller) {
    return caller;
  }

  @Post('api/cause')
  @HttpCode(200)
  cause(@RequestCause() cause: Cause) {
    return cause;
  }

  @Post('api/without-looking')
  @HttpCode(200)
  identity(@RequestIdentity() identity: Identity) {
    return { user: identity.user?.userId ?? null };
  }
}

const KEY = newAgentKey();
const open = { isDraft: false, origins: null };
const holders: Record<string, AgentKeyHolder> = {
  [agentKeyHash(KEY)]: { agentId: 'agent-1', ownerId: 'olga', keyId: 'key-1', ...open },
  [agentKeyHash('demo')]: { agentId: 'agent-2', ownerId: 'local', keyId: 'key-2', ...open },
  [agentKeyHash('shop')]: { agentId: 'agent-3', ownerId: 'olga', keyId: 'key-3', ...open, origins: ['https://shop.example'] },
};

/** The service as it stands with an environment. */
async function serve(environment: Record<string, string>) {
  const config = readConfig({ JWT_SECRET_KEY: 'secret', ...environment });
  @Module({
    imports: [IdentityModule],
    controllers: [Probe],
    providers: [{ provide: AgentKeyDirectory, useValue: { byHash: async (hash: string) => holders[hash] } }],
  })
  class ProbeModule {}
  const global = { module: class {}, global: true, providers: [{ provide: Config, useValue: config }], exports: [Config] };
  @Module({ imports: [global, ProbeModule] })
  class RootModule {}
  const app = await createHttpApp(RootModule, { ...config, readModels: [] }, { logger: false });
  await app.listen(0, '127.0.0.1');
  return app;
}

const call = async (app: NestFastifyApplication, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const { port } = app.getHttpServer().address() as AddressInfo;
  const json =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
  const method = path.startsWith('/api/me') ? 'GET' : 'POST';
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...json });
  return {
    status: response.status,
    id: response.headers.get('x-request-id'),
    body: (await response.json()) as Record<string, unknown>,
  };
};

describe('with authentication off', () => {
  let app: NestFastifyApplication;
  beforeAll(async () => void (app = await serve({})));
  afterAll(() => app.close());

  it('everybody is the local user, whatever the header says', async () => {
    const { body, id } = await call(app, '/api/me', undefined, { authorization: 'Bearer nonsense' });
    const cause = { actor: 'user:local', credential: 'none', correlationId: id, causationId: id };
    expect(body).toEqual({ kind: 'user', userId: 'local', roles: ['user'], credential: 'none', cause });
  });

  it('an agent key still speaks for its agent', async () => {
    const { body } = await call(app, '/api/caller', { api_key: 'demo' });
    expect(body).toMatchObject({ kind: 'agent-key', agentId: 'agent-2', ownerId: 'local', signedIn: { userId: 'local' } });
  });

  it('an api_key that belongs to no agent leaves the cause with the user', async () => {
    expect((await call(app, '/api/cause', { api_key: 'sk-of-a-model-provider' })).body).toMatchObject({ actor: 'user:local' });
  });
});

describe('with LOCAL_MODE_ADMIN', () => {
  it('the local user is an administrator', async () => {
    const app = await serve({ LOCAL_MODE_ADMIN: 'true' });
    expect((await call(app, '/api/me')).body).toMatchObject({ roles: ['user', 'admin'] });
    await app.close();
  });
});

describe('with session tokens', () => {
  let app: NestFastifyApplication;
  let alice: string;
  beforeAll(async () => {
    app = await serve({ AUTH_TYPE: 'session_jwt' });
    alice = await app.get(SessionTokens, { strict: false }).issue({ userId: 'alice', roles: [] });
  });
  afterAll(() => app.close());

  it('a token names the user, with and without the word Bearer', async () => {
    for (const authorization of [`Bearer ${alice}`, `bearer ${alice}`, alice]) {
      const { body } = await call(app, '/api/me', undefined, { authorization });
      expect(body).toMatchObject({ userId: 'alice', credential: 'session-token', cause: { actor: 'user:alice' } });
    }
  });

  it('nobody is refused where a user is needed, and nobody elsewhere', async () => {
    expect(await call(app, '/api/me')).toMatchObject({ status: 401, body: { success: false, message: 'Unauthorized' } });
    expect(await call(app, '/api/me', undefined, { authorization: 'Bearer ' })).toMatchObject({ status: 401 });
    expect(await call(app, '/api/known', {})).toMatchObject({ status: 401 });
    expect(await call(app, '/api/cause', {})).toMatchObject({ status: 401 });
    expect(await call(app, '/api/caller', {})).toMatchObject({ status: 200, body: { kind: 'nobody' } });
  });

  it.each(['/api/me', '/api/caller', '/api/known', '/api/cause', '/api/without-looking'])(
    'a bad token is refused on %s even when a good key comes with it',
    async (path) => {
      const body = path === '/api/me' ? undefined : { api_key: KEY };
      const answer = await call(app, path, body, { authorization: 'Bearer nonsense' });
      const refusal = { success: false, message: 'Authentication error: invalid token', error: 'invalid_token' };
      expect(answer).toMatchObject({ status: 401, body: refusal });
    },
  );

  it('an expired token says so', async () => {
    const old = await app.get(SessionTokens, { strict: false }).issue({ userId: 'alice', roles: [] }, -60);
    const answer = await call(app, '/api/me', undefined, { authorization: old });
    expect(answer).toMatchObject({ status: 401, body: { success: false, error: 'token_expired' } });
  });

  it('a bad token is refused before the body is looked at', async () => {
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
    expect((await call(app, '/api/caller', { api_key: KEY })).body).toMatchObject(expected);
    expect((await call(app, `/api/caller?api_key=${KEY}`, {})).body).toMatchObject(expected);
    expect((await call(app, '/api/caller', {}, { 'x-api-key': KEY })).body).toMatchObject(expected);
    expect((await call(app, '/api/caller', { api_key: ' ' }, { 'x-api-key': KEY })).body).toMatchObject(expected);
  });

  it('an agent key goes before a token, and remembers who sent it', async () => {
    const { body } = await call(app, '/api/caller', { api_key: KEY }, { authorization: alice });
    expect(body).toMatchObject({ kind: 'agent-key', ownerId: 'olga', signedIn: { userId: 'alice' } });
    const { body: cause } = await call(app, '/api/cause', { api_key: KEY }, { authorization: alice });
    expect(cause).toMatchObject({ actor: 'agent-key:key-1', credential: 'agent-key' });
  });

  it.each(['/api/caller', '/api/known', '/api/cause'])('a key is judged by the page that sends it: %s', async (path) => {
    const from = (origin: string, headers = {}) => call(app, path, { api_key: 'shop' }, { origin, ...headers });
    expect(await from('https://shop.example')).toMatchObject({ status: 200 });
    const refusal = { status: 403, body: { success: false, error: 'origin_not_allowed' } };
    expect(await from('https://other.example')).toMatchObject(refusal);
    expect(await from('https://other.example', { authorization: alice })).toMatchObject(refusal);
  });

  it('an agent key signs nobody in', async () => {
    expect(await call(app, `/api/me?api_key=${KEY}`)).toMatchObject({ status: 401 });
  });

  it.each([
    ['an unknown key', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'],
    ['an endless key', 'x'.repeat(10_000)],
  ])('%s is refused', async (_, key) => {
    const answer = await call(app, '/api/caller', { api_key: key });
    expect(answer).toMatchObject({ status: 401, body: { success: false, message: 'Invalid API key' } });
  });

  it('a key that is no text counts as none, and no key is looked up before somebody asks', async () => {
    expect(await call(app, '/api/caller', { api_key: { $ne: 1 } })).toMatchObject({ status: 200, body: { kind: 'nobody' } });
    expect(await call(app, '/api/without-looking', { api_key: 'unknown' })).toMatchObject({ status: 200, body: { user: null } });
  });

  it('under /v1 the bearer is an agent key', async () => {
    const answer = await call(app, '/v1/caller', {}, { authorization: `Bearer ${KEY}` });
    expect(answer.body).toMatchObject({ kind: 'agent-key', agentId: 'agent-1' });
    const refused = await call(app, '/v1/caller', {}, { authorization: 'Bearer nonsense' });
    expect(refused).toMatchObject({ status: 401, body: { error: { type: 'authentication_error' } } });
  });
});
