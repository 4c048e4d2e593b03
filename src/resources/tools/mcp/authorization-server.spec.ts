import { describe, expect, it } from '@jest/globals';
import { AuthorizationServers, OAUTH_ANSWER_BYTES_MAX, OAUTH_ENTRIES_MAX } from './authorization-server.js';

const ISSUER = 'https://issuer.example';
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  registration_endpoint: `${ISSUER}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
};
const RESOURCE = { resource: 'https://tools.example/mcp', authorization_servers: [ISSUER] };
const redirectUrl = 'https://service.example/callback';

const ANSWERS: Readonly<Record<string, object>> = {
  '/.well-known/oauth-protected-resource/mcp': RESOURCE,
  '/.well-known/oauth-authorization-server': METADATA,
  '/register': { client_id: 'c', redirect_uris: [redirectUrl] },
  '/token': { access_token: 'a', token_type: 'Bearer' },
};

/** Servers whose responses are those of ANSWERS, except the given ones. */
const servers = (others: Readonly<Record<string, object | Response>> = {}): AuthorizationServers => {
  const answers = { ...ANSWERS, ...others };
  const fetch = async (input: unknown) => {
    const answer = answers[new URL(String(input)).pathname];
    if (answer instanceof Response) return answer;
    return answer ? Response.json(answer) : new Response('Not found', { status: 404 });
  };
  return new AuthorizationServers(fetch, () => new Date());
};

const signIn = (others?: Parameters<typeof servers>[0]) =>
  servers(others).signIn({ serverUrl: RESOURCE.resource, redirectUrl, state: 's', scopes: [], client: null });

const many = Array.from({ length: OAUTH_ENTRIES_MAX }, () => 1);
const long = 'x'.repeat(OAUTH_ANSWER_BYTES_MAX);
const refused = { name: 'SignInFailed', message: 'The response of the authorization server is too large.' };

describe('a sign-in', () => {
  it('reads metadata and registers', async () => {
    expect((await signIn()).pending).toMatchObject({ issuerUrl: ISSUER, client: { client_id: 'c' } });
  });

  it('skips a large page in the place of metadata', async () => {
    const page = new Response(long + long, { status: 404 });
    const openId = { ...METADATA, jwks_uri: `${ISSUER}/keys`, subject_types_supported: ['public'] };
    const found = await signIn({
      '/.well-known/oauth-authorization-server': page,
      '/.well-known/openid-configuration': { ...openId, id_token_signing_alg_values_supported: ['RS256'] },
    });
    expect(found.pending.issuerUrl).toBe(ISSUER);
  });

  it.each([
    ['metadata with too many entries', '/.well-known/oauth-authorization-server', { ...METADATA, scopes_supported: many }],
    ['metadata with too many bytes', '/.well-known/oauth-authorization-server', { ...METADATA, note: long }],
    ['a registration with too many entries', '/register', { client_id: 'c', redirect_uris: many }],
    ['a registration with too many bytes', '/register', { client_id: 'c', redirect_uris: [redirectUrl], note: long }],
    ['a refused registration with too many bytes', '/register', new Response(long + long, { status: 400 })],
  ])('refuses %s', async (_, path, answer) => {
    await expect(signIn({ [path]: answer })).rejects.toMatchObject(refused);
  });

  it('does not use resource metadata with too many entries', async () => {
    const path = '/.well-known/oauth-protected-resource/mcp';
    const { pending } = await signIn({
      [path]: { ...RESOURCE, scopes_supported: many.map(String) },
      '/.well-known/oauth-authorization-server': { ...METADATA, issuer: 'https://tools.example/' },
    });
    expect(pending.resource).toBeNull();
  });
});

describe('tokens', () => {
  const client = { client_id: 'c' };
  const pending = { issuerUrl: ISSUER, client, codeVerifier: 'v', redirectUrl, resource: null };
  const before = { issuerUrl: ISSUER, client, resource: null, accessToken: 'a', refreshToken: 'r', expiresAt: null };

  it.each([
    ['too many entries', { ...ANSWERS['/token'], scope: many }],
    ['too many bytes', { ...ANSWERS['/token'], note: long }],
  ])('are refused in a response with %s', async (_, answer) => {
    await expect(servers({ '/token': answer }).tokensFor(pending, 'code', undefined)).rejects.toMatchObject(refused);
    await expect(servers({ '/token': answer }).refreshed(before)).rejects.toMatchObject(refused);
  });

  it('are read', async () => {
    expect(await servers().tokensFor(pending, 'code', undefined)).toMatchObject({ accessToken: 'a' });
    expect(await servers().refreshed(before)).toMatchObject({ accessToken: 'a', refreshToken: 'r' });
  });
});
