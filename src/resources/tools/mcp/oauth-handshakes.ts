import { createHash, randomBytes } from 'node:crypto';
import { OAuthError, OAuthClientFlowError, RegistrationRejectedError } from '@modelcontextprotocol/client';
import type { Commands } from '../../../kernel/commands.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { isId, newId } from '../../../kernel/ids.js';
import type { Streams } from '../../../kernel/event-sourcing/streams.js';
import type { CredentialVault } from '../../../platform/credentials/credential-vault.port.js';
import {
  type AuthorizationServers,
  type GrantTokens,
  type OAuthClient,
  type PendingSignIn,
  SignInFailed,
} from './authorization-server.js';
import { isServiceFailure, failureText } from './mcp-failures.js';
import { AwaitSignIn, FailSignIn, GrantSignIn, StartHandshake, TakeSignInState } from './sign-in/oauth.commands.js';
import { handshakeNotFound, type OAuthGrant, oauthGrant } from './sign-in/oauth.decider.js';
import { type GrantedTool, oauthStream } from './sign-in/oauth.events.js';
import { TOKENS } from './oauth-grants.js';

/** How long the owner may take to sign in. */
export const HANDSHAKE_TTL_MS = 10 * 60_000;

/** The owner is told the beginning of what each tool does. */
const DESCRIPTION_CHARACTERS_MAX = 500;

const STATE_BYTES = 32;
const PENDING = 'pending';

export type HandshakeRequest = Readonly<{
  ownerId: string;
  serverUrl: string;
  scopes: readonly string[];
  client: OAuthClient | null;
  redirectUrl: string;
  cause: Cause;
}>;

/** What the browser brings back from the authorization server. */
export type SignInReturn = Readonly<{ state: string; code?: string; iss?: string; error?: string; cause: Cause }>;

/** Who can say what a server offers to the holder of a token. */
export type ToolServers = Readonly<{
  actionsFor(serverUrl: string, accessToken: string, cause: Cause): Promise<readonly GrantedTool[]>;
}>;

/**
 * Handshakes with authorization servers. To start one: say so, find the server and register there, keep what has to be
 * secret, say where to sign in. To finish one: take the state, which works once, change the code for tokens, list the tools,
 * keep the tokens, say that it is granted, forget what is not needed any more. A crash in between leaves a handshake that
 * runs out, and the owner starts another.
 */
export class OAuthHandshakes {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly vault: CredentialVault,
    private readonly servers: AuthorizationServers,
    private readonly toolServers: ToolServers,
  ) {}

  /** What it came to so far. @throws Rejection when it is not that user's */
  async of(ownerId: string, handshakeId: string): Promise<OAuthGrant> {
    const { state } = isId(handshakeId) ? await this.streams.fold(oauthStream(handshakeId), oauthGrant) : { state: undefined };
    if (!state || state.status === 'none' || state.ownerId !== ownerId) throw handshakeNotFound();
    return state;
  }

  /** The handshake as it stands once the owner is asked to sign in, or once that cannot be. */
  async start({ ownerId, serverUrl, scopes, client, redirectUrl, cause }: HandshakeRequest): Promise<OAuthGrant> {
    const handshakeId = newId();
    await this.commands.execute(new StartHandshake({ handshakeId, ownerId, serverUrl, ttlMs: HANDSHAKE_TTL_MS }, cause));
    try {
      const state = `${handshakeId}.${randomBytes(STATE_BYTES).toString('base64url')}`;
      const { authorizationUrl, pending } = await this.servers.signIn({ serverUrl, redirectUrl, state, scopes, client });
      const pendingId = await this.vault.keep(ownerId, { [PENDING]: JSON.stringify(pending) });
      const signIn = { authorizationUrl, stateHash: hashOf(state), pendingId };
      return await this.commands.execute(new AwaitSignIn(handshakeId, signIn, cause));
    } catch (error) {
      return this.failed(handshakeId, error, cause);
    }
  }

  /** What it came to. @throws Rejection when there is nothing to be finished with that state */
  async finish({ state, code, iss, error, cause }: SignInReturn): Promise<OAuthGrant> {
    const handshakeId = state.split('.', 1)[0]!;
    if (!isId(handshakeId)) throw handshakeNotFound();
    const taken = await this.commands.execute(new TakeSignInState(handshakeId, hashOf(state), cause));
    const { ownerId, serverUrl, pendingId } = taken;
    try {
      if (error !== undefined || code === undefined) throw new SignInFailed(`The sign-in was not completed (${codeOf(error)}).`);
      const secrets = await this.vault.reveal(ownerId, pendingId);
      const tokens = await this.servers.tokensFor(JSON.parse(secrets[PENDING]!) as PendingSignIn, code, iss);
      const offered = await this.toolServers.actionsFor(serverUrl, tokens.accessToken, cause);
      const tools = offered.map(({ name, description }) => ({
        name,
        description: description.slice(0, DESCRIPTION_CHARACTERS_MAX),
      }));
      return await this.granted(taken, tokens, tools, cause);
    } catch (failure) {
      return await this.failed(handshakeId, failure, cause);
    } finally {
      await this.vault.delete(ownerId, pendingId);
    }
  }

  private async granted({ id, ownerId }: OAuthGrant, tokens: GrantTokens, tools: readonly GrantedTool[], cause: Cause) {
    const credentialsId = await this.vault.keep(ownerId, { [TOKENS]: JSON.stringify(tokens) });
    const state = await this.commands.execute(new GrantSignIn(id, credentialsId, tools, cause));
    // It was given up meanwhile.
    if (state.credentialsId !== credentialsId) await this.vault.delete(ownerId, credentialsId);
    return state;
  }

  /** A failure of the service itself says nothing about the handshake. */
  private async failed(handshakeId: string, error: unknown, cause: Cause): Promise<OAuthGrant> {
    if (isServiceFailure(error)) throw error;
    return this.commands.execute(new FailSignIn(handshakeId, reasonOf(error), cause));
  }
}

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex');

/** What comes with the browser may be anybody's text: only a plain word of it is repeated. */
const codeOf = (error: string | undefined): string => (error !== undefined && /^[a-z_]{1,40}$/.test(error) ? error : 'no code');

function reasonOf(error: unknown): string {
  if (error instanceof SignInFailed) return error.message;
  if (error instanceof RegistrationRejectedError) return 'The authorization server did not register this service.';
  if (error instanceof OAuthError) return `The authorization server refused (${codeOf(error.code)}).`;
  if (error instanceof OAuthClientFlowError) return 'The authorization server is not the one that was asked, or not a safe one.';
  return failureText(error);
}
