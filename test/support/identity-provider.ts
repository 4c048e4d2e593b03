import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import Provider from 'oidc-provider';

/** The claims about a user of the provider. */
export type ProviderUser = Readonly<Record<string, unknown>>;

const CLIENT_ID = 'verbatim';
const CLIENT_SECRET = 'a-secret-of-the-client-that-is-nowhere-else';
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** A certified OpenID provider on this machine, whose users sign in without a password. */
export class IdentityProviderForTests {
  readonly users = new Map<string, ProviderUser>();
  /** The user who signs in with the browser. */
  signsIn = 'ann';
  grantsRefreshTokens = true;
  /** Accepts connections and cuts them. */
  isAway = false;
  /** Rejects every code and every refresh token. */
  refusesTokens = false;
  /** Every token that the provider ever issued. None of them may appear anywhere else. */
  readonly secrets = new Set<string>([CLIENT_SECRET]);
  /** Replaces the response of its token endpoint. */
  alter: ((body: Record<string, unknown>) => Promise<Record<string, unknown>> | Record<string, unknown>) | undefined;
  private readonly addedKeys: JWK[] = [];
  private handler: ((...args: Parameters<ReturnType<Provider['callback']>>) => void) | undefined;

  private constructor(
    private readonly server: Server,
    private readonly keys: Awaited<ReturnType<typeof generateKeyPair>>,
  ) {}

  static async started(): Promise<IdentityProviderForTests> {
    const server = createServer((request, response) => {
      if (provider.isAway || !provider.handler) return void request.socket.destroy();
      if (provider.refusesTokens && request.url?.startsWith('/token')) {
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
        return;
      }
      provider.handler(request, response);
    });
    const provider = new IdentityProviderForTests(server, await generateKeyPair('RS256', { extractable: true }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get environment(): Readonly<Record<string, string>> {
    return { AUTH_TYPE: 'oidc', OIDC_ISSUER: this.issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET };
  }

  /** Starts the provider, which must know its client's URL first. */
  async serve(clientUrl: string, frontendUrl: string): Promise<void> {
    const key = { ...(await exportJWK(this.keys.privateKey)), kid: 'key-1', use: 'sig', alg: 'RS256' };
    const provider: Provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [`${clientUrl}/api/auth/oidc/callback`],
          post_logout_redirect_uris: [frontendUrl],
          backchannel_logout_uri: `${clientUrl}/api/auth/oidc/backchannel-logout`,
          backchannel_logout_session_required: true,
          grant_types: ['authorization_code', 'refresh_token'],
        },
      ],
      jwks: { keys: [key, ...this.addedKeys] },
      claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name', 'picture'] },
      conformIdTokenClaims: false,
      cookies: { keys: ['cookies of a test'] },
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...this.users.get(id) }) }),
      // Without the dispatcher that keeps a provider from calling local addresses.
      fetch: (url: string, { dispatcher: _, ...init }: RequestInit & { dispatcher?: unknown }) => fetch(url, init),
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true },
      },
      interactions: { url: () => '/interaction' },
      issueRefreshToken: () => this.grantsRefreshTokens,
      loadExistingGrant: async (ctx: {
        oidc: { session: { accountId: string; grantIdFor(clientId: string): string | undefined }; client: { clientId: string } };
      }) => {
        const { session, client } = ctx.oidc;
        const existing = session.grantIdFor(client.clientId);
        const known = existing === undefined ? undefined : await provider.Grant.find(existing);
        if (known) return known;
        const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
        grant.addOIDCScope('openid email profile offline_access');
        await grant.save();
        return grant;
      },
      pkce: { required: () => true },
      rotateRefreshToken: true,
    });
    const answer = provider.callback();
    this.handler = (request, response) => {
      if (!request.url?.startsWith('/interaction')) return this.answer(answer, request, response);
      void provider.interactionFinished(request, response, { login: { accountId: this.signsIn } });
    };
  }

  /** Publishes one more signing key. All users are signed out at the provider. */
  async addKey(keyId: string, clientUrl: string, frontendUrl: string): Promise<CryptoKey> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    this.addedKeys.push({ ...(await exportJWK(privateKey)), kid: keyId, use: 'sig', alg: 'RS256' });
    await this.serve(clientUrl, frontendUrl);
    return privateKey;
  }

  /** A logout token signed by the provider, or one with other claims or another key. */
  async logoutToken(claims: Readonly<Record<string, unknown>>, key?: CryptoKey, keyId?: string): Promise<string> {
    const usual = { iss: this.issuer, aud: CLIENT_ID, jti: crypto.randomUUID(), events: { [LOGOUT_EVENT]: {} } };
    return this.signed({ iat: Math.floor(Date.now() / 1000), ...usual, ...claims }, key, keyId);
  }

  signed(claims: Readonly<Record<string, unknown>>, key?: CryptoKey, keyId = 'key-1'): Promise<string> {
    return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: keyId }).sign(key ?? this.keys.privateKey);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(answer: ReturnType<Provider['callback']>, ...[request, response]: Parameters<ReturnType<Provider['callback']>>) {
    if (request.url?.startsWith('/token')) {
      const end = response.end.bind(response);
      response.end = ((body: string | Buffer) => {
        const tokens = JSON.parse(String(body)) as Record<string, string>;
        for (const name of ['access_token', 'refresh_token', 'id_token']) if (tokens[name]) this.secrets.add(tokens[name]);
        void Promise.resolve(this.alter?.(tokens) ?? tokens).then((altered) => {
          const text = JSON.stringify(altered);
          response.setHeader('content-length', Buffer.byteLength(text));
          end(text);
        });
        return response;
      }) as typeof response.end;
    }
    answer(request, response);
  }
}

/** A browser that keeps cookies and follows redirects up to a given URL. */
export class BrowserForTests {
  private readonly cookies = new Map<string, string>();

  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies.values()].join('; ');
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } });
    for (const set of response.headers.getSetCookie()) {
      const pair = set.split(';', 1)[0]!;
      const [name, value] = pair.split('=', 2);
      if (value === '') this.cookies.delete(`${new URL(url).origin} ${name}`);
      else this.cookies.set(`${new URL(url).origin} ${name}`, pair);
    }
    return response;
  }

  forget(name: string): void {
    for (const key of this.cookies.keys()) if (key.endsWith(` ${name}`)) this.cookies.delete(key);
  }

  /** The first URL that begins with `until`. */
  async follow(url: string, until: string): Promise<string> {
    for (let at = url; ;) {
      if (at.startsWith(until)) return at;
      const response = await this.request(at);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${at} answered ${response.status}: ${(await response.text()).slice(0, 500)}`);
      at = new URL(location, at).href;
    }
  }
}
