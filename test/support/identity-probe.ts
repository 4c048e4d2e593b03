import { Controller, Get, HttpCode, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo } from 'node:net';
import type { Cause } from '../../src/kernel/event-sourcing/events.js';
import type { KeyValue } from '../../src/kernel/messaging/key-value.js';
import { readConfig } from '../../src/platform/config/config.js';
import { Access } from '../../src/platform/http/access.js';
import { createHttpApp } from '../../src/platform/http/http-server.js';
import { AgentKeyDirectory, type AgentKeyHolder } from '../../src/resources/identity/agent-key-directory.port.js';
import { agentKeyHash, newAgentKey } from '../../src/resources/identity/agent-keys.policy.js';
import type { Caller, SignedInUser } from '../../src/resources/identity/caller.js';
import { CurrentUser, KnownCaller, RequestCause, RequestIdentity } from '../../src/resources/identity/identity.http.js';
import type { Identity } from '../../src/resources/identity/identity.js';
import { IdentityModule } from '../../src/resources/identity/identity.module.js';
import { identityRejections } from '../../src/resources/identity/identity.rejections.js';
import { identityGround } from './identity-ground.js';

/** Routes that return what the service knows about a caller. */
@Controller()
class Probe {
  @Access({ for: 'user', action: 'read', of: 'users' })
  @Get('api/me')
  me(@CurrentUser() user: SignedInUser) {
    return user;
  }

  @Access({ for: 'caller', action: 'read', of: 'callers' })
  @Post(['api/caller', 'v1/caller'])
  @HttpCode(200)
  async caller(@RequestIdentity() identity: Identity) {
    return (await identity.caller()) ?? { kind: 'nobody' };
  }

  @Access({ for: 'caller', action: 'read', of: 'callers' })
  @Post('api/known')
  @HttpCode(200)
  known(@KnownCaller() caller: Caller) {
    return caller;
  }

  @Access({ for: 'caller', action: 'read', of: 'callers' })
  @Post('api/cause')
  @HttpCode(200)
  cause(@RequestCause() cause: Cause) {
    return cause;
  }

  @Access({ for: 'caller', action: 'read', of: 'callers' })
  @Post('api/both')
  @HttpCode(200)
  both(@KnownCaller() caller: Caller, @RequestCause() cause: Cause) {
    return { caller, cause };
  }

  @Access({ for: 'anyone', action: 'change', of: 'callers' })
  @Get(['api/delete_old', 'api/agent_webhook', 'api/webhooks/agents/token'])
  change() {
    return { changed: true };
  }

  @Access({ for: 'caller', action: 'read', of: 'callers' })
  @Post('api/without-looking')
  @HttpCode(200)
  identity(@RequestIdentity() identity: Identity) {
    return { user: identity.user?.userId ?? null };
  }
}

/** The key of a published agent. The keys `demo`, `draft` and `shop` are known as well. */
export const AGENT_KEY = newAgentKey();
const open = { isDraft: false, origins: null };
const holders: Record<string, AgentKeyHolder> = {
  [agentKeyHash(AGENT_KEY)]: { agentId: 'agent-1', ownerId: 'olga', keyId: 'key-1', ...open },
  [agentKeyHash('demo')]: { agentId: 'agent-2', ownerId: 'local', keyId: 'key-2', ...open },
  [agentKeyHash('draft')]: { agentId: 'agent-4', ownerId: 'olga', keyId: 'key-4', ...open, isDraft: true },
  [agentKeyHash('shop')]: { agentId: 'agent-3', ownerId: 'olga', keyId: 'key-3', ...open, origins: ['https://shop.example'] },
};

/** Starts a service with these routes and an environment. */
export async function serveProbe(environment: Record<string, string>, keyValue?: KeyValue) {
  const config = readConfig({ JWT_SECRET_KEY: 'a secret for tests that is long enough', ...environment });
  @Module({
    imports: [IdentityModule],
    controllers: [Probe],
    providers: [{ provide: AgentKeyDirectory, useValue: { byHash: async (hash: string) => holders[hash] } }],
  })
  class ProbeModule {}
  @Module({ imports: [identityGround(config, keyValue), ProbeModule] })
  class RootModule {}
  const app = await createHttpApp(RootModule, { ...config, readModels: [], rejections: identityRejections }, { logger: false });
  await app.listen(0, '127.0.0.1');
  return app;
}

export const callProbe = async (
  app: NestFastifyApplication,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) => {
  const { port } = app.getHttpServer().address() as AddressInfo;
  const json =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
  const method = /^\/api\/(me|generate_token)/.test(path) ? 'GET' : 'POST';
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...json });
  return {
    status: response.status,
    id: response.headers.get('x-request-id'),
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as Record<string, unknown>,
  };
};
