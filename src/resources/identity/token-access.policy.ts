import {
  type Action,
  type Family,
  FAMILIES,
  FAMILIES_OF_AGENTS_PARTS,
  type Place,
  type RouteAccess,
  type Scope,
  scopesIncluding,
} from '../../kernel/access.js';
import type { Refusal } from './acts.policy.js';
import type { TokenGrant } from './caller.js';

export const notAllowed = (message: string): Refusal => ({ status: 403, code: 'resource-not-allowed', message });
export const scopeMissing = (scopes: readonly Scope[]): Refusal => ({
  status: 403,
  code: 'insufficient-scope',
  message: `The token lacks the required scope: ${scopes.join(' or ')}`,
  requiredScope: scopes[0]!,
});

export function enteringWithToken(
  token: TokenGrant,
  route: RouteAccess | undefined,
  named: (place: Place) => readonly unknown[],
): Refusal | undefined {
  if (!route?.scopes) {
    const message = 'This endpoint cannot be called with a personal access token';
    return { status: 403, code: 'not-available-to-tokens', message };
  }
  if (route.scopes !== 'any-token' && !route.scopes.some((scope) => grants(token, scope))) return scopeMissing(route.scopes);
  const closing = route.closedToRestricted?.find((family) => token.resources[family]);
  if (closing) return notAllowed(`This endpoint is not available to a token that is restricted to specific ${closing}`);
  const foreign = route.refs?.find((ref) => !within(token, ref.family, named(ref)));
  if (foreign) return notAllowed(`This token may not use one of the ${foreign.family}`);
  return enteringRestricted(token, route, named);
}

/** A token that is restricted in the family of the route cannot create resources, and must name resources of its list. */
function enteringRestricted(
  token: TokenGrant,
  { action, of, at }: RouteAccess,
  named: (place: Place) => readonly unknown[],
): Refusal | undefined {
  const family = FAMILIES.find((each) => each === of);
  if (!family || !token.resources[family] || WITHOUT_ID.includes(action)) return undefined;
  const ids = at && action !== 'create' ? named(at) : [];
  if (ids.length === 0) return notAllowed(`This token is restricted to specific ${family} and cannot use this endpoint`);
  return within(token, family, ids) ? undefined : notAllowed(`This token may not access this resource (${family})`);
}

/** Actions that are checked again once their resources are known. */
const WITHOUT_ID: readonly Action[] = ['list', 'describe', 'import'];

/** An import also creates parts of the agent, so a token that is restricted in the families of these parts cannot import. */
export function importing(token: TokenGrant | undefined, agentId: string | null): Refusal | undefined {
  const family = FAMILIES_OF_AGENTS_PARTS.find((each) => token?.resources[each]);
  if (family) return notAllowed(`A token restricted to specific ${family} cannot import agents`);
  if (!token?.resources.agents || (agentId !== null && within(token, 'agents', [agentId]))) return undefined;
  return notAllowed('This token is restricted to specific agents and may only update those');
}

const grants = ({ scopes }: TokenGrant, needed: Scope): boolean =>
  scopesIncluding(needed).some((scope) => scopes.includes(scope));

/** Whether a token reaches all of these ids of a family. A token without a restriction in the family does. */
export function within(token: TokenGrant | undefined, family: Family, ids: readonly unknown[]): boolean {
  const allowed = token?.resources[family];
  return !allowed || ids.every((id) => typeof id === 'string' && allowed.includes(id));
}
