import type { Family, Scope } from '../../kernel/access.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { LinkTerms } from './links/asking-links.port.js';

/** How users prove who they are. `none`: not at all. */
export type AuthType = 'none' | 'simple_jwt' | 'session_jwt' | 'oidc';

export type Role = 'user' | 'admin';

/** What a personal access token lets its bearer do, as its owner decided. */
export type TokenGrant = Readonly<{
  id: string;
  name: string;
  /** Which of its secrets was shown: it has another one each time it is regenerated. */
  generation: number;
  scopes: readonly Scope[];
  /** Of a family that is named here the token reaches these ids alone. */
  resources: Readonly<Partial<Record<Family, readonly string[]>>>;
}>;

/** Somebody whose own the conversations, agents and sources are. With authentication off that is everybody, as `local`. */
export type SignedInUser = Readonly<{
  kind: 'user';
  userId: string;
  roles: readonly Role[];
  credential: 'none' | 'session-token' | 'access-token';
  /** The token that stands for the user in this request. */
  token?: TokenGrant;
  /** The session, where it began at a provider. */
  sessionId?: string;
  cause: Cause;
}>;

/** The holder of an agent's key: a widget, a bot, a stranger. What it asks belongs to the owner of the agent. */
export type AgentKeyCaller = Readonly<{
  kind: 'agent-key';
  agentId: string;
  ownerId: string;
  keyId: string;
  /** Who sent the key, when that request was signed in as well. */
  signedIn: SignedInUser | undefined;
  cause: Cause;
}>;

/**
 * A reader of a shared conversation whose link lets its readers ask. What it asks belongs to the owner of the link; it comes to the
 * routes of asking and of reading what was asked so, and to nothing else.
 */
export type LinkCaller = Readonly<{
  kind: 'link';
  linkId: string;
  ownerId: string;
  /** How the owner has its readers answered. */
  terms: LinkTerms;
  signedIn: undefined;
  cause: Cause;
}>;

/** Names a link in the place of an agent's key. */
export const keyIdOfLink = (linkId: string): string => `link:${linkId}`;

/** The link that is named so; undefined: a key is. */
export const linkIdIn = (keyId: string): string | undefined => /^link:(.+)$/.exec(keyId)?.[1];

/** A machine that a user has paired. It comes to the routes of devices and to nothing else; it is no caller of any other. */
export type DeviceCaller = Readonly<{
  kind: 'device';
  deviceId: string;
  ownerId: string;
  /** Names its token, without saying anything of it. */
  tokenId: string;
  cause: Cause;
}>;

/** Who calls. */
export type Caller = SignedInUser | AgentKeyCaller | LinkCaller;

/** Whose things a caller reads and writes. */
export const ownerOf = (caller: Caller): string => (caller.kind === 'user' ? caller.userId : caller.ownerId);

/** The signed-in user behind a caller: for a key only when it was sent by somebody signed in; for a link never. */
export const signedInUserOf = (caller: Caller | undefined): SignedInUser | undefined =>
  caller === undefined || caller.kind === 'user' ? caller : caller.signedIn;

/** The user who looks, where no program looks on their behalf with a token. */
export const onlookerOf = (caller: Caller | undefined): SignedInUser | undefined => {
  const user = signedInUserOf(caller);
  return user?.token ? undefined : user;
};

export const isAdmin = (caller: Caller): boolean => caller.kind === 'user' && caller.roles.includes('admin');
