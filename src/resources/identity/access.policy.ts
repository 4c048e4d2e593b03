import { type Family, FAMILIES, type Place, type RouteAccess } from '../../kernel/access.js';
import { Rejection } from '../../kernel/rejection.js';
import type {
  Act,
  Beginning,
  ByGrant,
  NamedByQuestion,
  NamedConversation,
  Party,
  Refusal,
  ShownByLink,
  Who,
} from './acts.policy.js';
import { grantAllows, lackingInTeam } from './grants.policy.js';
import { enteringWithToken, importing, notAllowed, scopeMissing, within } from './token-access.policy.js';
import {
  type Caller,
  type DeviceCaller,
  isAdmin,
  keyIdOfLink,
  linkIdIn,
  ownerOf,
  signedInUserOf,
  type TokenGrant,
} from './caller.js';

/** Why a caller may not do something. Undefined if it is allowed. This is the only code that decides on access. */
export function refusalOf(who: Who | DeviceCaller, act: Act): Refusal | undefined {
  if (who?.kind === 'device') return ofDevice(who, act);
  switch (act.does) {
    case 'enter':
      return entering(who, act.route, act.named);
    case 'reach':
      return reaching(who, act.thing, act.family, act);
    case 'refer':
      return within(tokenOf(who), act.family, act.ids)
        ? undefined
        : notAllowed(`This token may not use one of the ${act.family}`);
    case 'import':
      return importing(tokenOf(who), act.agentId);
    case 'ask':
      return asking(who, act.question);
    case 'join':
      return who && isPartyTo(act.conversation, who) ? undefined : NOT_FOUND;
    case 'replay':
      return replaying(who, act.conversation, act.askedWith);
    case 'read-artifact':
    case 'change-artifact':
      return reachingArtifact(who, act);
    case 'list-artifacts':
      return listingArtifacts(who, act);
    case 'act-in-team':
      return actingInTeam(who, act);
    case 'serve':
      return NOT_FOUND;
    case 'see-keys':
      return tokenOf(who)?.scopes.includes('agents:keys') === false ? scopeMissing(['agents:keys']) : undefined;
    case 'see-all':
      return who && isAdmin(who) ? undefined : { status: 403, code: 'not-allowed', message: 'For administrators only' };
  }
}

export const may = (who: Who | DeviceCaller, act: Act): boolean => refusalOf(who, act) === undefined;

/** @throws Rejection if `refusalOf` refuses. `notFound` makes the Rejection for a missing resource and for another user's. */
export function requireAccess(who: Who | DeviceCaller, act: Act, notFound: () => Rejection = generallyNotFound): void {
  const refusal = refusalOf(who, act);
  if (refusal) throw rejectionOf(refusal, notFound);
}

/** The resource, if it exists and the caller may access it. @throws Rejection as `requireAccess` does */
export function reached<Thing extends Readonly<{ id?: string; ownerId: string }>>(
  who: Who,
  thing: Thing | undefined,
  notFound: () => Rejection,
  family?: Family,
  byGrant: ByGrant = {},
): Thing {
  const refusal = refusalOf(who, { does: 'reach', thing, ...(family && { family }), ...byGrant });
  if (refusal || !thing) throw rejectionOf(refusal ?? NOT_FOUND, notFound);
  return thing;
}

/** Those of the user's resources that the caller's credential may see. */
export const visible = <Thing extends Readonly<{ id: string }>>(
  who: Who,
  family: Family,
  things: readonly Thing[],
): readonly Thing[] => things.filter(({ id }) => may(who, { does: 'refer', family, ids: [id] }));

/**
 * Whether a conversation belongs to a party. It belongs to its owner. If it was started with an agent's key, it also belongs to
 * every holder of a key of that agent, even if the key was regenerated since. If a reader of a link started it, it also belongs
 * to all readers of that link. A signed-in caller who sends a key counts as the holder of the key.
 */
export const isPartyTo = ({ status, ownerId, agentId, agentKeyId }: Beginning, party: Party): boolean => {
  if (status !== 'open') return false;
  if ('userId' in party) return ownerId === party.userId;
  if (ownerId !== party.ownerId) return false;
  const linkId = linkIdIn(agentKeyId ?? '');
  if ('linkId' in party) return linkId === party.linkId;
  return agentId === party.agentId && typeof agentKeyId === 'string' && linkId === undefined;
};

/** Whether a party may decide on the tool calls of a turn. With an access token, only on turns that this token asked. */
export const mayResume = (party: Party, askedWith: string | undefined): boolean => {
  const token = 'userId' in party ? party.token : undefined;
  return token === undefined || token.id === askedWith;
};

/** The access token of a request. It restricts the request even if the request also has an agent's key. */
export const tokenOf = (who: Who): TokenGrant | undefined => signedInUserOf(who)?.token;

/** The access token of a request, if it is restricted to some resources. It reaches only what is known to be among them. */
export function restrictedTokenOf(who: Who): TokenGrant | undefined {
  const token = tokenOf(who);
  return token && isRestricted(token) ? token : undefined;
}

/** A unique name of the caller's credential. State that is stored under it is not found with another credential. */
export function credentialIdOf(caller: Caller): string {
  if (caller.kind === 'user') return caller.token ? `access-token:${caller.token.id}` : caller.userId;
  return keyIdOf(caller)!;
}

/** The id in the log of the key or link that a question was asked with. Null for a signed-in user. */
export function keyIdOf(caller: Caller): string | null {
  if (caller.kind === 'link') return keyIdOfLink(caller.linkId);
  return caller.kind === 'agent-key' ? caller.keyId : null;
}

const UNAUTHENTICATED: Refusal = { status: 401, code: 'unauthenticated', message: 'Unauthorized' };
const NOT_FOUND: Refusal = { status: 404, code: 'not-found', message: 'Not found' };
const generallyNotFound = () => new Rejection('not-found', 'Not found');

export function rejectionOf(refusal: Refusal, notFound: () => Rejection = generallyNotFound): Rejection {
  if (refusal.status === 404) return notFound();
  const details = refusal.code === 'insufficient-scope' ? { required_scope: refusal.requiredScope } : undefined;
  return new Rejection(refusal.code, refusal.message, details);
}

function entering(who: Who, route: RouteAccess | undefined, named: (place: Place) => readonly unknown[]): Refusal | undefined {
  const token = tokenOf(who);
  if (token) return enteringWithToken(token, route, named);
  if (!route) return { status: 403, code: 'not-allowed', message: 'This endpoint has no access rule and is closed' };
  return isOpenTo(who, route) ? undefined : UNAUTHENTICATED;
}

/** A device may enter only the routes of devices, and report only about its own commands. */
function ofDevice({ deviceId }: DeviceCaller, act: Act): Refusal | undefined {
  if (act.does === 'enter') return act.route?.for === 'device' ? undefined : UNAUTHENTICATED;
  return act.does === 'serve' && act.invocation?.deviceId === deviceId ? undefined : NOT_FOUND;
}

function isOpenTo(who: Who, { for: audience, links }: RouteAccess): boolean {
  switch (audience) {
    case 'user':
      return signedInUserOf(who) !== undefined;
    case 'caller':
      return who !== undefined && (who.kind !== 'link' || links === 'too');
    case 'key':
      return who?.kind === 'agent-key';
    case 'device':
      return false;
    case 'anyone':
    case 'capability':
      return true;
  }
}

const NOT_GRANTED: Refusal = { status: 403, code: 'not-allowed', message: "Your access to this item doesn't allow that" };

/** The holder of a grant knows that the resource exists, so what the grant does not allow is answered 403 and not 404. */
function reaching(
  who: Who,
  thing: Readonly<{ id?: string; ownerId: string }> | undefined,
  family: Family | undefined,
  { grant, needs }: ByGrant,
): Refusal | undefined {
  if (!who) return UNAUTHENTICATED;
  if (!thing) return NOT_FOUND;
  if (thing.ownerId !== ownerOf(who)) {
    if (!grant || !family || who.kind !== 'user') return NOT_FOUND;
    if (!needs || !grantAllows(family, grant, needs)) return NOT_GRANTED;
  }
  if (!family || within(tokenOf(who), family, [thing.id])) return undefined;
  return notAllowed(`This token may not access this resource (${family})`);
}

function actingInTeam(who: Who, { team, role, needs }: Extract<Act, { does: 'act-in-team' }>): Refusal | undefined {
  if (who?.kind !== 'user') return UNAUTHENTICATED;
  if (!team) return NOT_FOUND;
  const lacking = lackingInTeam({ role, isOwner: team.ownerId === who.userId, isAdmin: isAdmin(who) }, needs);
  return lacking && (lacking === 'unknown' ? NOT_FOUND : FORBIDDEN);
}

/**
 * An agent uses its own sources, prompt and tools, and a chat without an agent uses the user's tools. So a restricted token may
 * only ask one of its agents or, if it is restricted only in sources, search these sources.
 */
function asking(
  who: Who,
  { agentId, sources, promptId, continuedAgentId, bringsWorkflow }: NamedByQuestion,
): Refusal | undefined {
  const token = restrictedTokenOf(who);
  if (!token) return undefined;
  const { agents, tools } = token.resources;
  if (tools) return notAllowed('A token that is restricted to specific tools cannot ask questions');
  if (bringsWorkflow) return notAllowed('A restricted token cannot bring a workflow along');
  if (who?.kind === 'agent-key') return notAllowed('A restricted token cannot ask with an agent key; send agent_id');
  if (agents && !agentId) return notAllowed('This token is restricted to specific agents; send agent_id');
  if (!agents && isRestricted(token, ['prompts', 'workflows']))
    return notAllowed('This token must be restricted to specific agents to ask questions');
  if (!agents && agentId) return notAllowed('This token is restricted to specific sources and cannot ask agents');
  if (continuedAgentId !== undefined && continuedAgentId !== agentId)
    return notAllowed('The conversation does not belong to the agent that this token may use');
  const named = { agents: agentId ? [agentId] : [], sources, prompts: promptId ? [promptId] : [] } as const;
  const foreign = (['agents', 'sources', 'prompts'] as const).find((family) => !within(token, family, named[family]));
  return foreign && notAllowed(`This token may not use one of the ${foreign}`);
}

function replaying(who: Who, conversation: Beginning, askedWith: string | undefined): Refusal | undefined {
  if (!who || !isPartyTo(conversation, who)) return NOT_FOUND;
  const token = restrictedTokenOf(who);
  return token && token.id !== askedWith ? NOT_FOUND : undefined;
}

const FORBIDDEN: Refusal = { status: 403, code: 'not-allowed', message: 'Forbidden' };

/**
 * Every visitor of a widget has the agent's key, so the key only reads artifacts of a conversation whose id the visitor knows,
 * and changes nothing. A link opens the artifacts of the turns that it shows.
 */
function reachingArtifact(
  who: Who,
  { does, artifact, within: named, shown }: Extract<Act, { does: 'read-artifact' | 'change-artifact' }>,
) {
  if (does === 'read-artifact' && artifact && shown && isShown(shown, artifact)) return undefined;
  if (!who) return shown === undefined ? UNAUTHENTICATED : NOT_FOUND;
  if (!artifact || artifact.ownerId !== ownerOf(who)) return NOT_FOUND;
  if (who.kind === 'user') return undefined;
  if (!named || named.conversationId !== artifact.conversationId || !isOf(named, who)) return NOT_FOUND;
  return does === 'change-artifact' ? FORBIDDEN : undefined;
}

/** Whether a link shows an artifact, which is so if one of the turns that it shows made the artifact. */
export const isShown = (
  { conversationId, turnIds }: ShownByLink,
  artifact: Readonly<{ conversationId: string | null; messageId?: string | null }>,
): boolean => artifact.conversationId === conversationId && turnIds.includes(artifact.messageId ?? '');

function listingArtifacts(who: Who, { of, shown }: Extract<Act, { does: 'list-artifacts' }>): Refusal | undefined {
  if (shown && typeof of === 'object' && of.conversationId === shown.conversationId) return undefined;
  if (!who) return shown === undefined ? UNAUTHENTICATED : NOT_FOUND;
  if (typeof of === 'string') return who.kind === 'user' ? undefined : FORBIDDEN;
  return isOf(of, who) ? undefined : FORBIDDEN;
}

const isOf = ({ began }: NamedConversation, party: Party): boolean => began !== undefined && isPartyTo(began, party);

const isRestricted = ({ resources }: TokenGrant, families: readonly Family[] = FAMILIES): boolean =>
  families.some((family) => resources[family]);
