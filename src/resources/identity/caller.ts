import type { Family, Scope } from '../../kernel/access.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { LinkTerms } from './links/asking-links.port.js';

/** How users authenticate. With `none`, they do not. */
export type AuthType = 'none' | 'simple_jwt' | 'session_jwt' | 'oidc';

export type Role = 'user' | 'admin';

/** What a personal access token allows its bearer. */
export type TokenGrant = Readonly<{
  id: string;
  name: string;
  /** The number of the secret that the request used. Each regeneration of the token makes a new secret. */
  generation: number;
  scopes: readonly Scope[];
  /** The only ids that the token reaches in each family that is named here. It reaches all of the other families. */
  resources: Readonly<Partial<Record<Family, readonly string[]>>>;
}>;

/** A user, who owns conversations, agents and sources. If authentication is off, every request is from the user `local`. */
export type SignedInUser = Readonly<{
  kind: 'user';
  userId: string;
  roles: readonly Role[];
  credential: 'none' | 'session-token' | 'access-token';
  /** The personal access token of this request, if any. */
  token?: TokenGrant;
  /** The id of the session, if the user signed in at a provider. */
  sessionId?: string;
  /** Set if the session token expires. The token of a provider's session is renewed, so it ends with that session instead. */
  tokenExpiresAt?: Date;
  cause: Cause;
}>;

/**
 * The holder of an agent's key, for example a widget, a bot or a stranger. Its conversations belong to the owner of the agent.
 */
export type AgentKeyCaller = Readonly<{
  kind: 'agent-key';
  agentId: string;
  ownerId: string;
  keyId: string;
  /** The user who sent the key, if the request was also signed in. */
  signedIn: SignedInUser | undefined;
  cause: Cause;
}>;

/**
 * A reader of a shared conversation whose link lets its readers ask. Its conversations belong to the owner of the link. It may
 * only ask, and read the answers.
 */
export type LinkCaller = Readonly<{
  kind: 'link';
  linkId: string;
  ownerId: string;
  /** The agent, prompt and source that answer the readers, as the owner chose. */
  terms: LinkTerms;
  signedIn: undefined;
  cause: Cause;
}>;

/** The id of a link where the id of an agent's key is expected. */
export const keyIdOfLink = (linkId: string): string => `link:${linkId}`;

/** The id of the link, or undefined if `keyId` is the id of a key. */
export const linkIdIn = (keyId: string): string | undefined => /^link:(.+)$/.exec(keyId)?.[1];

/** A machine that a user has paired. It may enter only the routes of devices. */
export type DeviceCaller = Readonly<{
  kind: 'device';
  deviceId: string;
  ownerId: string;
  /** The id of its token, which does not reveal the token. */
  tokenId: string;
  cause: Cause;
}>;

/** The caller of a route, except for devices. */
export type Caller = SignedInUser | AgentKeyCaller | LinkCaller;

/** The user whose resources a caller reads and writes. */
export const ownerOf = (caller: Caller): string => (caller.kind === 'user' ? caller.userId : caller.ownerId);

/**
 * The signed-in user of a request. With an agent's key, only if the request was also signed in. With a link, always undefined.
 */
export const signedInUserOf = (caller: Caller | undefined): SignedInUser | undefined =>
  caller === undefined || caller.kind === 'user' ? caller : caller.signedIn;

/** The signed-in user of a request, unless a program sent it with an access token. */
export const onlookerOf = (caller: Caller | undefined): SignedInUser | undefined => {
  const user = signedInUserOf(caller);
  return user?.token ? undefined : user;
};

export const isAdmin = (caller: Caller): boolean => caller.kind === 'user' && caller.roles.includes('admin');

/** The subject of the signal that a credential may have ended. Its payload is the id of the credential. */
export const CREDENTIAL_ENDED = 'credential.ended';
