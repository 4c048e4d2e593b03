import { FAMILIES, type Family, type RouteAccess, type Scope, SCOPES } from '../../src/kernel/access.js';
import { refusalOf } from '../../src/resources/identity/access.policy.js';
import type { Act } from '../../src/resources/identity/acts.policy.js';
import { BEARER_IS_DEVICE, BRINGS_OWN_CREDENTIAL } from '../../src/resources/identity/identify-request.js';
import {
  type AgentKeyCaller,
  type Caller,
  type DeviceCaller,
  keyIdOfLink,
  type LinkCaller,
  type SignedInUser,
  type TokenGrant,
} from '../../src/resources/identity/caller.js';
import { type Route, routes } from './routes.js';

export const ACCESS_TABLE_FILE = new URL('../../docs/access.md', import.meta.url);

const cause = { actor: '', credential: 'none', correlationId: '', causationId: '' } as const;
const owner: SignedInUser = { kind: 'user', userId: 'owner', roles: ['user'], credential: 'session-token', cause };
const otherUser: SignedInUser = { ...owner, userId: 'other' };
const administrator: SignedInUser = { ...owner, userId: 'administrator', roles: ['user', 'admin'] };
const agentKey: AgentKeyCaller = {
  kind: 'agent-key',
  agentId: 'a',
  ownerId: 'owner',
  keyId: 'k',
  signedIn: undefined,
  cause,
};

const reader: LinkCaller = {
  ...{ kind: 'link', linkId: 'l', ownerId: 'owner', terms: { agentId: null, promptId: '', sourceId: null } },
  signedIn: undefined,
  cause,
};

const device: DeviceCaller = { kind: 'device', deviceId: 'd', ownerId: 'owner', tokenId: 'd.1', cause };

/** The resource owner, signed in with an access token of these scopes. */
export const bearer = (scopes: readonly Scope[], resources: TokenGrant['resources'] = {}): SignedInUser => ({
  ...owner,
  credential: 'access-token',
  token: { id: 't', name: 'T', generation: 1, scopes, resources },
});

/** The cell of token columns for routes that do not read the bearer. */
const NOT_READ = 'not read';
const ALL = Object.keys(SCOPES) as readonly Scope[];
const OWN = 'own';
/** The cell for a share link where the route returns what the link shows. */
const SHOWN = 'shown';

/** A request that names the resource `named` at every place of the route. */
const entering = (access: RouteAccess | undefined, named: string): Act => ({
  does: 'enter',
  route: access,
  named: () => [named],
});

const statusOf = (who: Caller | DeviceCaller | undefined, act: Act): string => {
  const refusal = refusalOf(who, act);
  return refusal ? String(refusal.status) : 'yes';
};

const names = ({ path, access }: Route): boolean => path.includes('/:') || access?.at !== undefined;

/** The action on a resource of the owner that follows entering the route. Undefined if the route names no resource. */
function touching(route: Route, who: Caller | undefined): Act | undefined {
  const { access } = route;
  if (access?.of === 'conversations' || access?.of === 'messages') {
    const agentKeyId = who === reader ? keyIdOfLink(reader.linkId) : 'k';
    const conversation = { status: 'open', ownerId: 'owner', agentId: 'a', agentKeyId } as const;
    if (access.of === 'messages' && access.action === 'read') return { does: 'replay', conversation, askedWith: 't' };
    return ['list', 'search'].includes(access.action) ? undefined : { does: 'join', conversation };
  }
  if (!access || !names(route)) return undefined;
  if (access.inTeam) {
    return {
      does: 'act-in-team',
      team: { ownerId: 'owner' },
      role: who === owner ? 'team_admin' : undefined,
      needs: access.inTeam,
    };
  }
  const family = FAMILIES.find((each) => each === access.of);
  return { does: 'reach', thing: { id: OWN, ownerId: 'owner' }, ...(family && { family }) };
}

/** The levels of a grant and the roles in a team. */
const HOLDERS = ['viewer', 'editor'] as const;
const ROLES = ['team_member', 'team_admin'] as const;

/** Whether the holder of a grant on the resource that the route names may call the route. */
function cellOfHolder({ access, ...route }: Route, level: (typeof HOLDERS)[number]): string {
  const family = access?.grantedOn ?? FAMILIES.find((each) => each === access?.of);
  if (!access || !family || !(names({ access, ...route }) || access.grantedOn)) return '';
  const grant = { level, switches: {} };
  return statusOf(otherUser, { does: 'reach', thing: { id: OWN, ownerId: 'owner' }, family, grant, needs: access.granted });
}

function cellInTeam({ access }: Route, role: (typeof ROLES)[number]): string {
  if (!access?.inTeam) return '';
  return statusOf(otherUser, { does: 'act-in-team', team: { ownerId: 'owner' }, role, needs: access.inTeam });
}

/** Routes that read or change what is the caller's own by definition: a request cannot name a resource of another user. */
const OF_ONESELF = new Set(['activity', 'user events', 'users']);

function cell(route: Route, who: Caller | undefined): string {
  const entered = statusOf(who, entering(route.access, OWN));
  if (entered !== 'yes') return entered;
  const { access } = route;
  if (access?.of === 'all teams') return statusOf(who, { does: 'see-all' }) === 'yes' ? 'all' : '403';
  if (access?.of === 'audit') return statusOf(who, { does: 'see-all' }) === 'yes' ? 'all' : 'own';
  const isOpen = access?.for === 'anyone' || access?.for === 'capability';
  const act = isOpen || OF_ONESELF.has(access!.of) ? undefined : touching(route, who);
  if (act) return statusOf(who, act);
  if (isOpen) return 'yes';
  return who && who !== owner && who !== agentKey && who !== reader ? 'own' : 'yes';
}

/** The holder of a link that shows a conversation has no credential. Some routes return what the link shows. */
function cellOfShareLink(route: Route): string {
  if (!route.access?.shownByLinks) return cell(route, undefined);
  const artifact = { ownerId: 'owner', conversationId: 'c', messageId: 't' };
  const shown = { conversationId: 'c', turnIds: ['t'] };
  const status = statusOf(undefined, { does: 'read-artifact', artifact, within: undefined, shown });
  return status === 'yes' ? SHOWN : status;
}

/** A device may call only its own routes. Elsewhere its token is not a credential, or is not read. */
function cellOfDevice({ path, access }: Route): string {
  if (BEARER_IS_DEVICE.test(path)) return statusOf(device, entering(access, OWN));
  return BRINGS_OWN_CREDENTIAL.test(path) ? NOT_READ : '401';
}

/** The scopes of which each one alone opens the route. */
export function scopesFor({ access, path }: Route): string {
  if (BRINGS_OWN_CREDENTIAL.test(path)) return NOT_READ;
  const opening = ALL.filter((scope) => statusOf(bearer([scope]), entering(access, OWN)) === 'yes');
  if (opening.length === 0) return '—';
  return opening.length === ALL.length ? 'any' : opening.map((scope) => `\`${scope}\``).join(', ');
}

/** What a token with all scopes that is restricted in one family may do on the route. */
function restricted({ access }: Route, family: Family): string {
  const token = bearer(ALL, { [family]: [OWN] });
  if (statusOf(token, entering(access, OWN)) !== 'yes') return 'no';
  const anotherOne = statusOf(token, entering(access, 'another'));
  return anotherOne === 'yes' ? 'yes' : 'its own';
}

function restrictions(route: Route): string {
  const { access } = route;
  const scopes = scopesFor(route);
  if (scopes === '—' || scopes === NOT_READ) return scopes;
  // The handler checks the resources of a question together, so the route alone does not show the restriction.
  if (access?.action === 'ask' && access.of === 'answers') return 'its agents or sources';
  if (access?.of === 'messages') return 'what it asked';
  const by = new Map<string, Family[]>();
  for (const family of FAMILIES) {
    const outcome =
      access?.action === 'list' && access.of === family && restricted(route, family) === 'yes'
        ? 'its own'
        : restricted(route, family);
    by.set(outcome, [...(by.get(outcome) ?? []), family]);
  }
  const told = (['its own', 'no'] as const).flatMap((outcome) => {
    const families = by.get(outcome);
    return families ? [`${outcome}: ${families.length === FAMILIES.length ? 'all' : families.join(', ')}`] : [];
  });
  return told.length === 0 ? 'yes' : told.join('; ');
}

const HEADING = [
  'Route',
  'No credential',
  'Owner',
  'Another user',
  'Administrator',
  'Agent key (widget)',
  'Share link',
  'Promptable link',
  'Device',
  'Token with',
  'Restricted token',
];

function row(route: Route): readonly string[] {
  const visitors = [undefined, owner, otherUser, administrator, agentKey];
  return [
    `\`${route.method} ${route.path}\``,
    ...visitors.map((who) => cell(route, who)),
    cellOfShareLink(route),
    cell(route, reader),
    cellOfDevice(route),
    scopesFor(route),
    restrictions(route),
  ];
}

/** The routes that teams open to users other than the owner. */
const TEAM_HEADING = ['Route', 'Team viewer', 'Team editor', 'Team member', 'Team administrator'];

const teamRow = (route: Route): readonly string[] => [
  `\`${route.method} ${route.path}\``,
  ...HOLDERS.map((level) => cellOfHolder(route, level)),
  ...ROLES.map((role) => cellInTeam(route, role)),
];

const teamTable = (): string => {
  const open = routes.filter(({ access }) => access?.granted || access?.inTeam);
  return [line(TEAM_HEADING), line(TEAM_HEADING.map(() => '---')), ...open.map((route) => line(teamRow(route)))].join('\n');
};

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const accessTable = (): string =>
  [line(HEADING), line(HEADING.map(() => '---')), ...routes.map((route) => line(row(route)))].join('\n');

const SCOPE_LIST = Object.entries(SCOPES)
  .map(([scope, what]) => line([`\`${scope}\``, what]))
  .join('\n');

/** The page with the access table, generated from the code. */
export const accessPage = (): string => `# Who may do what

\`npm run access:dump\` writes this page from the declarations of the routes and the decisions of \`src/resources/identity/access.policy.ts\`. A test compares it with the code.
One function decides on every request from the caller, the credential, the action and the resource. It allows the request or answers 401, 403 with a code, or 404.

The owner is the user whose resource the request names. A resource of another user gets the same answer as one that does not exist.

| Cell | Meaning |
| --- | --- |
| yes | allowed |
| own | allowed; the caller sees or creates only their own resources |
| all | allowed; the caller sees the events of all users |
| shown | allowed; the caller sees what the link shows |
| its own | allowed for the ids to which the token is restricted |
| 401 | the credential is missing, or the route does not accept this kind of credential |
| 403 | closed to this credential |
| 404 | the resource does not exist for this caller |
| — | closed to tokens: 403 |
| not read | the address or the body is the credential; the route ignores other credentials |

A wrong, revoked or expired bearer token gets 401 on every route that reads it. Under \`AUTH_TYPE=none\` a request
without a credential belongs to the local user, and a request with a token is restricted by the token. An administrator's session sees the events of all users in the audit log, and owns no additional resources.

## Routes

${accessTable()}

\`POST /api/search\` answers 400 if the key is missing, because the key is a field of the body. \`GET /api/events\` answers 404 if the realtime routes are off.
\`POST /api/auth/oidc/refresh\` takes the newest token of a session as bearer token, and answers 401 without one.

## By teams

A grant shares a resource of a team member with the team or with another member. The table shows what the holder of a grant may do with the resource that a request names,
and what members of a team may do in the team that it names. On every other route a grant allows nothing: the route answers 403 or 404 for a shared resource, and 404
without a grant. The owner of a resource can switch some rights on or off with \`PUT /api/resource_settings\`; the table shows the defaults. The owner of a team and
administrators of the installation can delete the team and transfer it to another owner. The owner of a resource can end each of its grants, also in a team of which the owner is not a member.

${teamTable()}

A widget is a page with the key of an agent. Everyone who opens the page can read the key, so the key is not a secret. \`allowed_origins\` keeps other pages from using it. A
program sends no \`Origin\` and is allowed. A share link is an address (\`GET /api/shared_conversation/:identifier\`, \`GET /api/shared_agent\`). As \`share_token\` its token opens the
artifacts of the turns that it shows, in the versions that existed when the link was made. No other route accepts it. Readers of a promptable link send its token as \`api_key\`. They can ask, and read only what was asked with that link. When the link ends, their open
streams close within two seconds.

With an agent's key a caller can ask the agent, and read, rate and stop what was begun with a key of that agent, also with an earlier key that was regenerated since.

## Personal access tokens

A token is \`dgpt_pat_\` and 43 random characters, sent as \`Authorization: Bearer\`. The service shows it once and stores only its SHA-256. A route without a
scope is closed to tokens (403 \`not_available_to_tokens\`). A token without one of the route's scopes gets 403 \`insufficient_scope\` with \`required_scope\`. A scope that
allows writing also allows reading. A token never has the rights of an administrator.

| Scope | Description |
| --- | --- |
${SCOPE_LIST}

\`resource_filter\` restricts a token to ids of ${FAMILIES.map((family) => `\`${family}\``).join(', ')}. Other ids get 403 \`resource_not_allowed\`. A token that is restricted in a family cannot create
resources of that family, lists only the ids to which it is restricted, and can give an agent no others. It can ask the agents to which it is restricted. A token that is restricted only in sources can ask those sources without an agent.
It reads the journals only of its own questions. Every token can approve and deny the tool calls of its own questions. Full keys of agents and URLs of webhooks need \`agents:keys\`.

An idempotency key belongs to the credential with which it was sent. Events name the token: \`actor\` is \`access-token:<id>\`, \`credential\` is \`access-token\`.

Every process refuses a token from the moment at which it is revoked or regenerated. Open responses end within two seconds after their token was revoked or expired, their agent key was replaced or their session
ended: a stream closes without a further frame, and any other answer is cut off.
`;
