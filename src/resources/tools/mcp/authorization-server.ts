import {
  discoverAuthorizationServerMetadata,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  OAuthError,
  OAuthErrorCode,
  type OAuthServerInfo,
  type OAuthTokens,
  refreshAuthorization,
  registerClient,
  startAuthorization,
} from '@modelcontextprotocol/client';
import { JSON_LIMITS, JsonMeter } from '../../../kernel/bounded-json.js';
import { newId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { SignInNeeded } from './mcp-failures.js';

/** The time limit of each request to an authorization server. A sign-in needs several. */
const OAUTH_REQUEST_MS = 10_000;

/** Maximum bytes of a response of an authorization server. Metadata has less than 10 KB. */
export const OAUTH_ANSWER_BYTES_MAX = 64 * 1024;
/** Maximum entries of such a response. Metadata has some hundred. The errors of the client describe every wrong entry. */
export const OAUTH_ENTRIES_MAX = 1_000;

/** The registration of this service at an authorization server. */
export type OAuthClient = Readonly<{ client_id: string; client_secret?: string }>;

/** The data of a handshake that are needed when the owner returns. Secret. */
export type PendingSignIn = Readonly<{
  issuerUrl: string;
  client: OAuthClient;
  codeVerifier: string;
  redirectUrl: string;
  resource: string | null;
}>;

/** The tokens of a grant. Secret. */
export type GrantTokens = Readonly<{
  issuerUrl: string;
  client: OAuthClient;
  resource: string | null;
  accessToken: string;
  refreshToken: string | null;
  /** ISO 8601; null if the server did not send it. */
  expiresAt: string | null;
}>;

export type SignInRequest = Readonly<{
  serverUrl: string;
  redirectUrl: string;
  state: string;
  scopes: readonly string[];
  client: OAuthClient | null;
}>;

/** The handshake failed for a reason that its owner is shown. */
export class SignInFailed extends Error {
  override readonly name = 'SignInFailed';
}

/** Finds the authorization servers of tool servers, registers there, and requests tokens by OAuth 2.1 with PKCE. */
export class AuthorizationServers {
  private readonly fetch: typeof globalThis.fetch;

  constructor(
    fetch: typeof globalThis.fetch,
    private readonly now: () => Date,
  ) {
    this.fetch = async (input, init) => {
      const late = AbortSignal.timeout(OAUTH_REQUEST_MS);
      const signal = init?.signal ? AbortSignal.any([init.signal, late]) : late;
      return bounded(await fetch(input, { ...init, signal }));
    };
  }

  /**
   * The address where the owner signs in, and the data to store until the owner returns. @throws SignInFailed, and network errors
   */
  async signIn({ serverUrl, redirectUrl, state, scopes, client: given }: SignInRequest) {
    const challenge = await this.challengeOf(serverUrl);
    const info = await discoverOAuthServerInfo(serverUrl, {
      fetchFn: this.fetch,
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    });
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = info;
    if (!metadata) throw new SignInFailed('The tool server names no authorization server that could be found.');
    const scope = scopes.join(' ') || challenge.scope || resourceMetadata?.scopes_supported?.join(' ');
    const client = given ?? (await this.registered(info, redirectUrl, scope));
    const resource = resourceMetadata?.resource ?? null;
    const started = await startAuthorization(authorizationServerUrl, {
      metadata,
      clientInformation: client,
      redirectUrl,
      state,
      ...(scope && { scope }),
      ...(resource !== null && { resource }),
    });
    const pending: PendingSignIn = {
      issuerUrl: String(authorizationServerUrl),
      client,
      codeVerifier: started.codeVerifier,
      redirectUrl,
      resource,
    };
    return { authorizationUrl: started.authorizationUrl.href, pending };
  }

  /** The tokens for the code with which the owner returned. @throws SignInFailed, and errors of the OAuth client and the network */
  async tokensFor(pending: PendingSignIn, code: string, iss: string | undefined): Promise<GrantTokens> {
    const { issuerUrl, client, codeVerifier, redirectUrl, resource } = pending;
    const tokens = await exchangeAuthorization(issuerUrl, {
      metadata: await this.metadataOf(issuerUrl),
      clientInformation: client,
      authorizationCode: code,
      codeVerifier,
      redirectUri: redirectUrl,
      fetchFn: this.fetch,
      ...(iss !== undefined && { iss }),
      ...(resource !== null && { resource }),
    });
    return this.grantOf({ issuerUrl, client, resource, refreshToken: null }, tokens);
  }

  /** @throws SignInNeeded if the server gives no new tokens, and network errors */
  async refreshed(before: GrantTokens): Promise<GrantTokens> {
    const { issuerUrl, client, resource, refreshToken } = before;
    if (refreshToken === null) throw new SignInNeeded('The tokens cannot be renewed.');
    try {
      const tokens = await refreshAuthorization(issuerUrl, {
        metadata: await this.metadataOf(issuerUrl),
        clientInformation: client,
        refreshToken,
        fetchFn: this.fetch,
        ...(resource !== null && { resource }),
      });
      return this.grantOf(before, tokens);
    } catch (error) {
      if (isFinal(error)) throw new SignInNeeded('The tokens are not renewed any more.', { cause: error });
      throw error;
    }
  }

  private grantOf(
    { issuerUrl, client, resource, refreshToken }: Pick<GrantTokens, 'issuerUrl' | 'client' | 'resource' | 'refreshToken'>,
    tokens: OAuthTokens,
  ): GrantTokens {
    const seconds = tokens.expires_in;
    return {
      issuerUrl,
      client,
      resource,
      accessToken: tokens.access_token,
      refreshToken: tokens.refresh_token ?? refreshToken,
      expiresAt: seconds === undefined ? null : new Date(this.now().getTime() + seconds * 1000).toISOString(),
    };
  }

  private async metadataOf(issuerUrl: string) {
    const metadata = await discoverAuthorizationServerMetadata(issuerUrl, { fetchFn: this.fetch });
    if (!metadata) throw new SignInFailed('The authorization server could not be found.');
    return metadata;
  }

  private async registered(info: OAuthServerInfo, redirectUrl: string, scope: string | undefined): Promise<OAuthClient> {
    const { authorizationServerUrl, authorizationServerMetadata: metadata } = info;
    if (!metadata?.registration_endpoint) {
      throw new SignInFailed('The authorization server registers no clients by itself: a client id is needed.');
    }
    const { client_id, client_secret } = await registerClient(authorizationServerUrl, {
      metadata,
      clientMetadata: {
        client_name: 'Verbatim',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      ...(scope && { scope }),
      fetchFn: this.fetch,
    });
    return { client_id, ...(client_secret !== undefined && { client_secret }) };
  }

  /** The response of the tool server to a request without a token: the address of its metadata, and the scope to request. */
  private async challengeOf(serverUrl: string) {
    const response = await this.fetch(serverUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: newId(), method: 'ping' }),
    });
    await response.body?.cancel();
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
  }
}

/** The same response. Reading its body fails if a limit is exceeded. */
function bounded(response: Response): Response {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  const meter = new JsonMeter('The response', { ...JSON_LIMITS, entriesMax: OAUTH_ENTRIES_MAX });
  let bytes = 0;
  const checking = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, out) {
      bytes += piece.byteLength;
      if (bytes > OAUTH_ANSWER_BYTES_MAX) throw tooLarge();
      // Failures are often pages in HTML.
      if (response.ok) check(piece, meter);
      out.enqueue(piece);
    },
  });
  return new Response(response.body.pipeThrough(checking), { status, statusText, headers });
}

/** @throws SignInFailed */
function check(piece: Uint8Array, meter: JsonMeter): void {
  try {
    meter.read(Buffer.from(piece));
  } catch (error) {
    throw error instanceof Rejection ? tooLarge() : error;
  }
}

const tooLarge = (): SignInFailed => new SignInFailed('The response of the authorization server is too large.');

const FINAL: readonly string[] = [OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient];

/** Whether the server refused for good, rather than failed for the moment. */
const isFinal = (error: unknown): boolean => error instanceof OAuthError && FINAL.includes(error.code);
