/** The scopes of personal access tokens, with the description that the API reference shows for each. */
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

/** The scopes that include a scope: itself, and for `…:read` also `…:write`. */
export const scopesIncluding = (needed: Scope): readonly Scope[] =>
  needed.endsWith(':read') ? [needed, needed.replace(/:read$/, ':write')].filter(isScope) : [needed];

export const isScope = (text: unknown): text is Scope => typeof text === 'string' && Object.hasOwn(SCOPES, text);

/** The kinds of resources that a token can be restricted to single items of. */
export const FAMILIES = ['agents', 'sources', 'prompts', 'tools', 'workflows'] as const;

export type Family = (typeof FAMILIES)[number];

/** All families except agents. An agent may use resources of these families, which its id does not reveal. */
export const FAMILIES_OF_AGENTS_PARTS: readonly Family[] = ['sources', 'prompts', 'tools', 'workflows'];

/** The place in a request that holds the id of a resource. */
export type Place = Readonly<{ in: 'path' | 'query' | 'body'; name: string }>;
export const inPath = (name: string): Place => ({ in: 'path', name });
export const inQuery = (name: string): Place => ({ in: 'query', name });
export const inBody = (name: string): Place => ({ in: 'body', name });

/** Who may call a route. `capability`: any caller that presents the secret in the address or in the body. */
export type Audience = 'anyone' | 'capability' | 'user' | 'caller' | 'key' | 'device';

/**
 * What a route does. `list` returns only those items of a family that the token may see. `describe` returns nothing that
 * belongs to a user. What `import` creates or changes is known only after its file is read.
 */
export type Action = 'ask' | 'change' | 'create' | 'delete' | 'describe' | 'import' | 'list' | 'read' | 'search';

/** What a grant allows its holder to do with another user's resource. Each action is granted separately. */
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

/** The access declaration of a route. One function decides from it who may call the route. */
export type RouteAccess = Readonly<{
  for: Audience;
  action: Action;
  /** The kind of resource, in the plural. */
  of: string;
  /** The token needs one of these scopes. If missing, the route refuses every token. */
  scopes?: readonly Scope[] | 'any-token';
  /** The place of the resource's id. A token that is restricted in the family must name one of its own resources there. */
  at?: Place;
  /** The places of the ids of other resources. */
  refs?: readonly (Place & Readonly<{ family: Family }>)[];
  /** The route refuses a token that is restricted in one of these families. */
  closedToRestricted?: readonly Family[];
  /**
   * The action that a team must grant a user who calls the route for another user's resource. The resource is of the route's own
   * family, or of `grantedOn`. If missing, only owners may call the route.
   */
  granted?: ResourceAction;
  grantedOn?: Family;
  /** A reader of a shared conversation may call the route with a link that allows questions, in place of an agent key. */
  links?: 'too';
  /** A reader of a shared conversation sees here what the link shows. The request carries the link's token as `share_token`. */
  shownByLinks?: 'too';
  /** The role that the caller needs in the team that the route is about. */
  inTeam?: 'member' | 'team_admin' | 'owner';
  /** The handler checks something else first and then requires a user itself. */
  userIsAskedLater?: true;
}>;
