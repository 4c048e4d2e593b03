import type { Family, Place, ResourceAction, RouteAccess, Scope } from '../../kernel/access.js';
import type { Caller, TokenGrant } from './caller.js';
import type { Grant, NeededInTeam, TeamStanding } from './grants.policy.js';

/** The caller. Undefined if the request has no credential. */
export type Who = Caller | undefined;

/** The caller who opens a conversation: a user, the holder of an agent's key, or a reader of a link. */
export type Party = Readonly<
  { userId: string; token?: TokenGrant } | { agentId: string; ownerId: string } | { linkId: string; ownerId: string }
>;

/** The start of a conversation, as its stream records it. */
export type Beginning = Readonly<{
  status: 'none' | 'open' | 'deleted';
  ownerId: string;
  agentId: string | null;
  agentKeyId: string | null | undefined;
}>;

/** The resources that a question refers to. */
export type NamedByQuestion = Readonly<{
  agentId: string | null;
  sources: readonly string[];
  promptId: string | null;
  /** The agent of the conversation that the question continues. Undefined for a new conversation. */
  continuedAgentId: string | null | undefined;
  /** The question contains a workflow graph, whose nodes can use any resource of the owner. */
  bringsWorkflow?: boolean;
}>;

/** A conversation that a request names. `began` is undefined if it does not exist. */
export type NamedConversation = Readonly<{ conversationId: string; began: Beginning | undefined }>;

/** The part of a conversation that its link shows. */
export type ShownByLink = Readonly<{ conversationId: string; turnIds: readonly string[] }>;

/** The grant of a caller who does not own a resource, and the action that the caller needs. */
export type ByGrant = Readonly<{ grant?: Grant | undefined; needs?: ResourceAction | undefined }>;

/** An access to check: an action, and what it acts on. */
export type Act =
  /** A request enters a route. `named` returns the ids at a place of the request. */
  | Readonly<{ does: 'enter'; route: RouteAccess | undefined; named: (place: Place) => readonly unknown[] }>
  /** One resource is read or changed. `grant` is the caller's grant if the resource belongs to another user. */
  | (Readonly<{ does: 'reach'; thing: Readonly<{ id?: string; ownerId: string }> | undefined; family?: Family }> & ByGrant)
  /** Something that is written refers to resources of a family. Their owner is checked where they are looked up. */
  | Readonly<{ does: 'refer'; family: Family; ids: readonly string[] }>
  /** A file is imported as a new agent, or changes the agent with this id. */
  | Readonly<{ does: 'import'; agentId: string | null }>
  | Readonly<{ does: 'ask'; question: NamedByQuestion }>
  | Readonly<{ does: 'join'; conversation: Beginning }>
  /** A journal is read. `askedWith` is the id of the access token that its question was asked with. */
  | Readonly<{ does: 'replay'; conversation: Beginning; askedWith: string | undefined }>
  /**
   * The artifact of a conversation or of a run is read or changed. `within` is the conversation that the request names. `shown`
   * is what the request's link shows: undefined without a link, null if the link shows nothing.
   */
  | Readonly<{
      does: 'read-artifact' | 'change-artifact';
      artifact: Readonly<{ ownerId: string; conversationId: string | null; messageId?: string | null }> | undefined;
      within: NamedConversation | undefined;
      shown?: ShownByLink | null | undefined;
    }>
  /** The artifacts of a conversation, of a workflow's run, or of an owner are listed. */
  | Readonly<{
      does: 'list-artifacts';
      of: NamedConversation | 'workflow-run' | 'owner';
      shown?: ShownByLink | null | undefined;
    }>
  /** The caller, who has the role `role` in the team, reads or changes something in it. */
  | Readonly<{
      does: 'act-in-team';
      team: Readonly<{ ownerId: string }> | undefined;
      role: TeamStanding['role'];
      needs: NeededInTeam;
    }>
  /** A device reports about a command that was sent to it. */
  | Readonly<{ does: 'serve'; invocation: Readonly<{ deviceId: string }> | undefined }>
  /** The complete key of an agent is shown. */
  | Readonly<{ does: 'see-keys' }>
  /** The data of all users is read. */
  | Readonly<{ does: 'see-all' }>;

/**
 * Why access is refused. `not-found` gets the message of the resource, so that another user's resource looks like a missing one.
 */
export type Refusal = Readonly<
  | { status: 401; code: 'unauthenticated'; message: string }
  | { status: 403; code: 'not-available-to-tokens' | 'resource-not-allowed' | 'not-allowed'; message: string }
  | { status: 403; code: 'insufficient-scope'; message: string; requiredScope: Scope }
  | { status: 404; code: 'not-found'; message: string }
>;
