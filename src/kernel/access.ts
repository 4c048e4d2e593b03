/** What a personal access token can be given, and what the reference says of it. */
export const SCOPES = {
  'agents:read': 'List and read agents',
  'agents:write': 'Create, change, pin and delete agents',
  'agents:keys': 'Read the keys of agents when they are made, regenerate them, and read the URLs of webhooks',
  'sources:read': 'List and read sources, their chunks and the tasks that ingest them',
  'sources:write': 'Upload, fetch, configure and delete sources',
  'prompts:read': 'List and read prompts',
  'prompts:write': 'Create, change and delete prompts',
  'tools:read': 'List tools',
  'tools:write': 'Create, change, try and delete tools and tool servers',
  'models:read': 'List models',
  'models:write': 'Create, change, test and delete custom models',
  'workflows:read': 'Read workflows',
  'workflows:write': 'Create, change and delete workflows',
  'schedules:read': 'Read schedules and their runs',
  'schedules:write': 'Create, change, run and delete schedules',
  'conversations:read': 'List, search and read conversations and messages',
  'conversations:write': 'Rename, rate and delete conversations',
  'analytics:read': 'Read analytics and logs',
  'teams:read': 'Read teams, their members and what is shared with them',
  'chat:run': 'Ask agents, search sources and attach files',
} as const;

export type Scope = keyof typeof SCOPES;

export const isScope = (text: unknown): text is Scope => typeof text === 'string' && Object.hasOwn(SCOPES, text);

/** The kinds of resources of which a token can be restricted to some. */
export const FAMILIES = ['agents', 'sources', 'prompts', 'tools', 'workflows'] as const;

export type Family = (typeof FAMILIES)[number];

/** All families but agents. The id of an agent does not say what the agent uses of them. */
export const FAMILIES_OF_AGENTS_PARTS: readonly Family[] = ['sources', 'prompts', 'tools', 'workflows'];

/** Where a request names a resource by its id. */
export type Place = Readonly<{ in: 'path' | 'query' | 'body'; name: string }>;

/** Who a route is for. `capability`: for those who know the address, or what is sent to it, which holds a secret. */
export type Audience = 'anyone' | 'capability' | 'user' | 'caller' | 'key' | 'device';

/**
 * What is done. `list` shows of a family what the token may see; `describe` shows nothing that
 * belongs to a user; what `import` makes or changes is known once its file is read.
 */
export type Action = 'ask' | 'change' | 'create' | 'delete' | 'describe' | 'import' | 'list' | 'read' | 'search';

/** What the holder of a grant may do with somebody else's thing, each on its own. */
export type ResourceAction =
  | 'use'
  | 'view'
  | 'pin'
  | 'edit'
  | 'publish'
  | 'edit_policy'
  | 'view_config'
  | 'view_logs'
  | 'manage_schedules'
  | 'export'
  | 'manage_access_details'
  | 'change_credentials'
  | 'share'
  | 'delete';

/** What a route says of itself, so that one function can decide who may use it. */
export type RouteAccess = Readonly<{
  for: Audience;
  action: Action;
  /** The kind of resource, in the plural. */
  of: string;
  /** The token needs one of them. Missing: no token is let in. */
  scopes?: readonly Scope[] | 'any-token';
  /** Where the request names the resource. A token that is restricted in its family has to name one of its own there. */
  at?: Place;
  /** Where the request names other resources. */
  refs?: readonly (Place & Readonly<{ family: Family }>)[];
  /** A token that is restricted in one of these families is not let in. */
  closedToRestricted?: readonly Family[];
  /**
   * What a team has to let a user do with another's thing, for the user to come in: with a thing of the route's own family, or of
   * `grantedOn`. Missing: the route is for owners alone.
   */
  granted?: ResourceAction;
  grantedOn?: Family;
  /** Who reads a shared conversation whose link lets readers ask comes in with that link, where keys of agents do. */
  links?: 'too';
  /** Who has the link of a shared conversation reads here what the link shows: its token comes as `share_token`. */
  shownByLinks?: 'too';
  /** The role that the caller needs in the team that the route is about. */
  inTeam?: 'member' | 'team_admin' | 'owner';
  /** The handler refuses something else first, and then asks for a user itself. */
  userIsAskedLater?: true;
}>;
