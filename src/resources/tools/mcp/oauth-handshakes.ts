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
import { cutText } from '../../../kernel/cut-text.js';

/** The time limit for the owner's sign-in. */
export const HANDSHAKE_TTL_MS = 10 * 60_000;

/** The maximum length of a tool's description in the result of a sign-in. */
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

/** The parameters with which the browser returns from the authorization server. */
export type SignInReturn = Readonly<{ state: string; code?: string; iss?: string; error?: string; cause: Cause }>;

/** Lists the tools that a server offers to the holder of a token. */
export type ToolServers = Readonly<{
  actionsFor(serverUrl: string, accessToken: string, cause: Cause): Promise<readonly GrantedTool[]>;
}>;

/**
 * Handshakes with authorization servers. Starting one: append the start, find the server and register there, store the secrets,
 * append the address of the sign-in. Finishing one: use the state, which works once, exchange the code for tokens, list the
 * tools, store the tokens, append the grant, delete the secrets of the handshake. A crash in between leaves a handshake that
 * expires, and the owner starts another.
 */
export class OAuthHandshakes {
  constructor(
    private readonly streams: Streams,
    private readonly commands: Commands,
    private readonly vault: CredentialVault,
    private readonly servers: AuthorizationServers,
    private readonly toolServers: ToolServers,
  ) {}

  /** The state of a user's handshake. @throws Rejection oauth-handshake-not-found */
  async of(ownerId: string, handshakeId: string): Promise<OAuthGrant> {
    const { state } = isId(handshakeId) ? await this.streams.fold(oauthStream(handshakeId), oauthGrant) : { state: undefined };
    if (!state || state.status === 'none' || state.ownerId !== ownerId) throw handshakeNotFound();
    return state;
  }

  /** Starts a handshake. Returns it when the owner can sign in, or when it has failed. */
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

  /** Finishes the handshake of a state. @throws Rejection oauth-handshake-not-found, oauth-state-used, oauth-state-expired */
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
        description: cutText(description, DESCRIPTION_CHARACTERS_MAX),
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
    // The handshake has failed meanwhile, so the tokens are not needed.
    if (state.credentialsId !== credentialsId) await this.vault.delete(ownerId, credentialsId);
    return state;
  }

  /** Ends the handshake, unless the service itself failed. @throws the error of the service */
  private async failed(handshakeId: string, error: unknown, cause: Cause): Promise<OAuthGrant> {
    if (isServiceFailure(error)) throw error;
    return this.commands.execute(new FailSignIn(handshakeId, reasonOf(error), cause));
  }
}

const hashOf = (state: string): string => createHash('sha256').update(state).digest('hex');

/** The browser may send any text as `error`, so only a plain word is repeated. */
const codeOf = (error: string | undefined): string => (error !== undefined && /^[a-z_]{1,40}$/.test(error) ? error : 'no code');

function reasonOf(error: unknown): string {
  if (error instanceof SignInFailed) return error.message;
  if (error instanceof RegistrationRejectedError) return 'The authorization server did not register this service.';
  if (error instanceof OAuthError) return `The authorization server refused (${codeOf(error.code)}).`;
  if (error instanceof OAuthClientFlowError) return 'The authorization server is not the one that was asked, or not a safe one.';
  return failureText(error);
}
