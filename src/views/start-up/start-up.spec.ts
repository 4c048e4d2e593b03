import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { identityGround } from '../../../test/support/identity-ground.js';
import { IdentityModule } from '../../resources/identity/identity.module.js';
import { readConfig } from '../../platform/config/config.js';
import { createHttpApp } from '../../platform/http/http-server.js';
import { serveApiReference } from '../../platform/http/api-reference.js';
import { StartUpModule } from './start-up.module.js';

/** Starts a service with an environment and lets `calls` request its paths. */
async function start(
  environment: Record<string, string>,
  calls: (get: (path: string, token?: string) => Promise<Answer>) => Promise<void>,
) {
  const config = readConfig({ JWT_SECRET_KEY: 'a secret for tests that is long enough', ...environment });
  @Module({ imports: [identityGround(config), IdentityModule, StartUpModule] })
  class RootModule {}
  const app = await createHttpApp(RootModule, { ...config, readModels: [] }, { logger: false });
  serveApiReference(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  try {
    await calls(async (path, token) => {
      const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, redirect: 'manual' });
      const text = await response.text();
      return {
        status: response.status,
        location: response.headers.get('location'),
        body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
      };
    });
  } finally {
    await app.close();
  }
}

type Answer = { status: number; location: string | null; body: unknown };

const LISTS = {
  '/api/template_agents': [],
};

describe('a starting client', () => {
  it('is the local user at once without authentication', () =>
    start({}, async (get) => {
      const config = { auth_type: null, requires_auth: false, graphrag_available: false, hybrid_available: false };
      expect(await get('/api/config')).toMatchObject({ status: 200, body: config });
      expect(await get('/api/user/me')).toMatchObject({
        status: 200,
        body: { success: true, user_id: 'local', roles: ['user'] },
      });
      for (const [path, body] of Object.entries(LISTS)) expect(await get(path)).toMatchObject({ status: 200, body });
      const refusal = { success: false, message: 'Token generation not allowed in current auth mode' };
      expect(await get('/api/generate_token')).toMatchObject({ status: 400, body: refusal });
    }));

  it('gets its own session with session tokens, and nothing before', () =>
    start({ AUTH_TYPE: 'session_jwt', OPENAI_BASE_URL: 'http://127.0.0.1:1', EMBEDDINGS_MODEL: 'e' }, async (get) => {
      const config = { auth_type: 'session_jwt', requires_auth: true, hybrid_available: true };
      expect(await get('/api/config')).toMatchObject({ status: 200, body: config });
      expect(await get('/api/user/me')).toMatchObject({ status: 401, body: { success: false } });
      expect(await get('/api/template_agents')).toMatchObject({ status: 401, body: { success: false } });
      const session = async () => ((await get('/api/generate_token')).body as { token: string }).token;
      const [mine, yours] = [await session(), await session()];
      const me = (await get('/api/user/me', mine)).body as { user_id: string };
      expect(me.user_id).toMatch(/^[0-9a-f-]{36}$/);
      expect((await get('/api/user/me', yours)).body).not.toEqual(me);
    }));

  it('is redirected from the root to the interactive reference', () =>
    start({}, async (get) => {
      expect(await get('/')).toMatchObject({ status: 302, location: '/api/docs' });
      expect((await get('/api/docs')).status).toBe(200);
    }));
});
