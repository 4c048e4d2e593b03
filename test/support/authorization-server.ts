import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, mcpServerForTests, type McpServerForTests } from './mcp-server.js';

type Code = Readonly<{ challenge: string; redirectUri: string; clientId: string }>;

/** An authorization server and a tool server that trusts it, on one port. */
export type AuthorizationServerForTests = McpServerForTests &
  Readonly<{
    /** The number of token responses per grant type. */
    grants: { authorization_code: number; refresh_token: number };
    /** The registered clients with their redirect URIs. */
    clients: ReadonlyMap<string, readonly string[]>;
    /** Every secret that the server ever issued. None of them may appear anywhere else. */
    secrets: readonly string[];
    /** Rejects all access tokens that were issued so far. Refresh tokens remain valid. */
    expireAccess(): void;
    /** Rejects everything that was granted so far. */
    revoke(): void;
    /** The user agrees in the browser. Returns the URL that the browser is redirected to. */
    approve(authorizationUrl: string): Promise<string>;
    /** Sets the lifetime that token responses state. */
    livesFor(seconds: number): void;
    /** Rejects the registration of new clients. */
    closeRegistration(): void;
  }>;

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

export async function authorizationServerForTests(): Promise<AuthorizationServerForTests> {
  const clients = new Map<string, readonly string[]>([['given-client', ['*']]]);
  const codes = new Map<string, Code>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  const secrets: string[] = [];
  const grants = { authorization_code: 0, refresh_token: 0 };
  let lifetime = 3600;
  let registers = true;
  const made = (): string => {
    const secret = randomUUID();
    secrets.push(secret);
    return secret;
  };
  const origin = (): string => new URL(server.url).origin;
  const json = (response: ServerResponse, status: number, body: object): boolean => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };

  const issue = (response: ServerResponse): boolean => {
    const [accessToken, refreshToken] = [made(), made()];
    access.add(accessToken);
    refresh.add(refreshToken);
    const body = { access_token: accessToken, refresh_token: refreshToken, token_type: 'Bearer', expires_in: lifetime };
    return json(response, 200, body);
  };

  const tokens = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const form = new URLSearchParams(await bodyOf(request));
    const kind = form.get('grant_type') as keyof typeof grants;
    grants[kind] += 1;
    if (kind === 'refresh_token') {
      // A refresh token is valid once. A second use is treated as theft.
      return refresh.delete(form.get('refresh_token') ?? '') ? issue(response) : json(response, 400, { error: 'invalid_grant' });
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const fits =
      code?.challenge === hash(form.get('code_verifier') ?? '') &&
      code.redirectUri === form.get('redirect_uri') &&
      code.clientId === form.get('client_id') &&
      form.get('resource') === server.url;
    return fits ? issue(response) : json(response, 400, { error: 'invalid_grant' });
  };

  const authorize = (url: URL, response: ServerResponse): boolean => {
    const { searchParams: asked } = url;
    const redirectUri = asked.get('redirect_uri') ?? '';
    const clientId = asked.get('client_id') ?? '';
    const known = clients.get(clientId);
    const fits = known && (known.includes(redirectUri) || known.includes('*')) && asked.get('code_challenge_method') === 'S256';
    if (!fits) return json(response, 400, { error: 'invalid_request' });
    const code = made();
    codes.set(code, { challenge: asked.get('code_challenge')!, redirectUri, clientId });
    const back = new URL(redirectUri);
    back.search = new URLSearchParams({ code, state: asked.get('state')!, iss: origin() }).toString();
    response.writeHead(302, { location: back.href }).end();
    return true;
  };

  const beside = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const url = new URL(request.url!, origin());
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, 200, { resource: server.url, authorization_servers: [origin()], scopes_supported: ['tools'] });
      case '/.well-known/oauth-authorization-server':
        return json(response, 200, {
          issuer: origin(),
          authorization_endpoint: `${origin()}/authorize`,
          token_endpoint: `${origin()}/token`,
          ...(registers && { registration_endpoint: `${origin()}/register` }),
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
        });
      case '/register': {
        const asked = JSON.parse(await bodyOf(request)) as { redirect_uris: string[] };
        const id = `client-${clients.size}`;
        clients.set(id, asked.redirect_uris);
        return json(response, 201, { ...asked, client_id: id });
      }
      case '/authorize':
        return authorize(url, response);
      case '/token':
        return tokens(request, response);
      default:
        return false;
    }
  };

  const server = await mcpServerForTests({
    admits: ({ headers }) => access.has(headers.authorization?.replace('Bearer ', '') ?? ''),
    beside,
  });
  return {
    ...server,
    grants,
    clients,
    secrets,
    expireAccess: () => access.clear(),
    revoke: () => (access.clear(), refresh.clear()),
    approve: async (authorizationUrl) => (await fetch(authorizationUrl, { redirect: 'manual' })).headers.get('location')!,
    livesFor: (seconds) => void (lifetime = seconds),
    closeRegistration: () => void (registers = false),
  };
}
