import { decodeCause } from '../../../kernel/event-sourcing/codec.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type AuthorizationServerForTests, authorizationServerForTests } from '../../../../test/support/authorization-server.js';
import { mcpServerForTests } from '../../../../test/support/mcp-server.js';
import { mcpToolForTests, type McpToolForTests } from '../../../../test/support/mcp-tool.js';
import { eventsOf } from '../../../../test/support/turns.js';
import type { SignInReturn } from './oauth-handshakes.js';
import { HANDSHAKE_TTL_MS } from './oauth-handshakes.js';
import { oauthStream } from './sign-in/oauth.events.js';

const redirectUrl = 'https://service.example/api/mcp_server/callback';

let server: AuthorizationServerForTests;
let kit: McpToolForTests;
let now: Date;

beforeEach(async () => {
  server = await authorizationServerForTests();
  now = new Date();
  kit = mcpToolForTests(undefined, () => now);
});
afterEach(async () => {
  await kit.close();
  await server.close();
});

const start = (more: object = {}) =>
  kit.handshakes.start({
    ownerId: 'alice',
    serverUrl: server.url,
    scopes: [],
    client: null,
    redirectUrl,
    cause: kit.cause,
    ...more,
  });

const backFrom = (location: string): SignInReturn =>
  ({ ...Object.fromEntries(new URL(location).searchParams), cause: kit.cause }) as unknown as SignInReturn;

const signedIn = async (): Promise<string> => {
  const { id, authorizationUrl } = await start();
  await kit.handshakes.finish(backFrom(await server.approve(authorizationUrl)));
  return id;
};

const oauthConfig = (grantId: string) => ({ server_url: server.url, auth_type: 'oauth', oauth_task_id: grantId });
const echo = (grantId: string) =>
  kit.call(server, 'echo', { word: 'hi' }, { config: oauthConfig(grantId), secrets: { oauth_grant: grantId } });
const typesOf = async (id: string) => (await eventsOf(kit.store, oauthStream(id))).map(({ type }) => type);

describe('a sign-in', () => {
  it('leads from the authorization URL to the tools of the server', async () => {
    const started = await start({ scopes: ['tools', 'more'] });
    expect(started.status).toBe('awaiting');
    const { searchParams: asked } = new URL(started.authorizationUrl);
    expect(Object.fromEntries(asked)).toMatchObject({
      code_challenge_method: 'S256',
      redirect_uri: redirectUrl,
      resource: server.url,
      scope: 'tools more',
    });
    const done = await kit.handshakes.finish(backFrom(await server.approve(started.authorizationUrl)));
    expect(done.status).toBe('granted');
    expect(done.tools).toContainEqual({ name: 'echo', description: 'Says it again.' });
    expect(await typesOf(done.id)).toEqual([
      'OAuthHandshakeStarted',
      'OAuthSignInAwaited',
      'OAuthSignInReturned',
      'OAuthGranted',
    ]);
    const { config, secrets, actions } = await kit.tool.configure(oauthConfig(done.id), {}, 'alice', kit.cause);
    expect(config).toMatchObject({ auth_type: 'oauth', oauth_task_id: done.id });
    expect(secrets).toEqual({ oauth_grant: done.id });
    expect(actions!.length).toBeGreaterThan(5);
    expect(await echo(done.id)).toBe('You said hi.');
  });

  it('leaves no secret in the log, and only the tokens in the vault', async () => {
    const id = await signedIn();
    const events = await eventsOf(kit.store, oauthStream(id));
    const log = events.map(({ data, metadata }) => data + metadata).join('');
    for (const secret of server.secrets) expect(log).not.toContain(secret);
    expect(log).not.toContain('code_verifier');
    expect([...kit.vault.rows.values()].map(({ secrets }) => Object.keys(secrets))).toEqual([['tokens']]);
  });

  it('can be finished once', async () => {
    const { authorizationUrl } = await start();
    const back = backFrom(await server.approve(authorizationUrl));
    const again = { ...back, cause: { ...kit.cause, causationId: 'r2' } };
    const both = await Promise.allSettled([kit.handshakes.finish(back), kit.handshakes.finish(again)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(server.grants.authorization_code).toBe(1);
  });

  it('cannot be finished after its time limit', async () => {
    const { id, authorizationUrl } = await start();
    const back = backFrom(await server.approve(authorizationUrl));
    now = new Date(now.getTime() + HANDSHAKE_TTL_MS);
    await expect(kit.handshakes.finish(back)).rejects.toMatchObject({ code: 'oauth-state-expired' });
    expect(await typesOf(id)).not.toContain('OAuthGranted');
  });

  it.each(['', 'nonsense', '0b9d3c52-6f1e-4a87-9c1d-2e3f4a5b6c01.abc'])(
    'cannot be finished with the state "%s"',
    async (state) => {
      await expect(kit.handshakes.finish({ state, code: 'c', cause: kit.cause })).rejects.toMatchObject({
        code: 'oauth-handshake-not-found',
      });
    },
  );

  it('cannot be finished with another state of the same handshake', async () => {
    const { id } = await start();
    const state = `${id}.guessed`;
    await expect(kit.handshakes.finish({ state, code: 'c', cause: kit.cause })).rejects.toMatchObject({
      code: 'oauth-handshake-not-found',
    });
  });

  it("fails if the user refuses, and repeats nothing from the browser's request", async () => {
    const { authorizationUrl } = await start();
    const state = new URL(authorizationUrl).searchParams.get('state')!;
    const done = await kit.handshakes.finish({ state, error: '<script>', cause: kit.cause });
    expect([done.status, done.reason]).toEqual(['failed', 'The sign-in was not completed (no code).']);
    expect(kit.vault.rows.size).toBe(0);
  });

  it('fails if the code comes from another authorization server', async () => {
    const { authorizationUrl } = await start();
    const back = backFrom(await server.approve(authorizationUrl));
    const done = await kit.handshakes.finish({ ...back, iss: 'https://evil.example' });
    expect(done.status).toBe('failed');
    expect(server.grants.authorization_code).toBe(0);
  });

  it('uses a given client if the server allows no registration', async () => {
    server.closeRegistration();
    const refused = await start();
    expect([refused.status, refused.reason]).toEqual(['failed', expect.stringContaining('a client id is needed')]);
    const started = await start({ client: { client_id: 'given-client' } });
    const done = await kit.handshakes.finish(backFrom(await server.approve(started.authorizationUrl)));
    expect(done.status).toBe('granted');
  });

  it('fails if the tool server names no authorization server', async () => {
    const plain = await mcpServerForTests();
    const { status, reason } = await start({ serverUrl: plain.url });
    expect([status, reason]).toEqual(['failed', 'The tool server names no authorization server that could be found.']);
    await plain.close();
  });

  it('can be seen and used only by its user', async () => {
    const id = await signedIn();
    await expect(kit.handshakes.of('bob', id)).rejects.toMatchObject({ code: 'oauth-handshake-not-found' });
    await expect(kit.tool.configure(oauthConfig(id), {}, 'bob', kit.cause)).rejects.toMatchObject({ code: 'oauth-not-granted' });
    await expect(kit.grants.tokensOf('bob', id).token(kit.cause)).rejects.toMatchObject({ name: 'SignInNeeded' });
  });

  it('can be used only for the server for which it was made', async () => {
    const id = await signedIn();
    const elsewhere = { ...oauthConfig(id), server_url: 'https://other.example/mcp' };
    await expect(kit.tool.configure(elsewhere, {}, 'alice', kit.cause)).rejects.toMatchObject({ code: 'oauth-not-granted' });
  });
});

describe('a grant', () => {
  it('is renewed when its token is refused, and the call succeeds', async () => {
    const id = await signedIn();
    expect(await echo(id)).toBe('You said hi.');
    server.expireAccess();
    expect(await echo(id)).toBe('You said hi.');
    expect(server.grants.refresh_token).toBe(1);
    expect(await typesOf(id)).toContain('OAuthTokensRefreshed');
    expect(kit.vault.rows.size).toBe(1);
  });

  it('is renewed before its token expires', async () => {
    server.livesFor(10);
    const id = await signedIn();
    expect(await echo(id)).toBe('You said hi.');
    expect(server.grants.refresh_token).toBeGreaterThan(0);
  });

  it('hides its tokens in what the server returns, also those that a call renews', async () => {
    const id = await signedIn();
    const mirror = () => kit.call(server, 'mirror', {}, { config: oauthConfig(id), secrets: { oauth_grant: id } });
    expect(String(await mirror())).toContain('"authorization":"Bearer [removed]"');
    expect(String(await mirror())).toContain('"authorization":"Bearer [removed]"');
    server.expireAccess();
    expect(String(await mirror())).toContain('"authorization":"Bearer [removed]"');
    expect(server.grants.refresh_token).toBe(1);
  });

  it('is renewed once for concurrent callers', async () => {
    const id = await signedIn();
    const tokens = kit.grants.tokensOf('alice', id);
    const refused = await tokens.token(kit.cause);
    server.expireAccess();
    const others = mcpToolForTests(undefined, () => now, kit);
    const sources = [tokens, kit.grants.tokensOf('alice', id), others.grants.tokensOf('alice', id)];
    const renewed = await Promise.all(sources.map((source) => source.renewed(refused, kit.cause)));
    expect(new Set(renewed).size).toBe(1);
    expect(server.grants.refresh_token).toBe(1);
    await others.close();
  });

  it('is lost when the server refuses to renew the tokens', async () => {
    const id = await signedIn();
    server.revoke();
    const lost = { name: 'SignInRequired', message: 'The tool server asks for a new sign-in.' };
    await expect(echo(id)).rejects.toMatchObject(lost);
    expect((await kit.grants.grant(id)).status).toBe('lost');
    expect(kit.vault.rows.size).toBe(0);
    await expect(echo(id)).rejects.toMatchObject(lost);
    expect(server.grants.refresh_token).toBe(1);
  });

  it('is lost in the name of the caller who sets the tool up', async () => {
    const id = await signedIn();
    server.revoke();
    const editor = { actor: 'access-token:t1', credential: 'access-token', correlationId: 'r9', causationId: 'r9' } as const;
    const refused = { code: 'tool-server-unreachable' };
    await expect(kit.tool.configure(oauthConfig(id), {}, 'alice', editor)).rejects.toMatchObject(refused);
    const { type, metadata } = (await eventsOf(kit.store, oauthStream(id))).at(-1)!;
    expect([type, decodeCause(metadata)]).toEqual(['OAuthGrantLost', { ...editor, version: 1 }]);
  });
});
