import { refusalOf } from '../../src/resources/identity/access.policy.js';
import type { Act } from '../../src/resources/identity/acts.policy.js';
import type { AgentKeyCaller, Caller, LinkCaller, SignedInUser, TokenGrant } from '../../src/resources/identity/caller.js';

const cause = { actor: 'x', credential: 'none', correlationId: 'r', causationId: 'r' } as const;

/** Callers of each kind, and the refusal of what they do. */
export const alice: SignedInUser = { kind: 'user', userId: 'alice', roles: ['user'], credential: 'session-token', cause };
export const admin: SignedInUser = { ...alice, userId: 'root', roles: ['user', 'admin'] };
export const key: AgentKeyCaller = {
  kind: 'agent-key',
  agentId: 'a1',
  ownerId: 'alice',
  keyId: 'k1',
  signedIn: undefined,
  cause,
};
export const reader: LinkCaller = {
  ...{ kind: 'link', linkId: 'l1', ownerId: 'alice', terms: { agentId: null, promptId: '', sourceId: null } },
  signedIn: undefined,
  cause,
};
export const bearer = (grant: Partial<TokenGrant> = {}): SignedInUser => ({
  ...alice,
  credential: 'access-token',
  token: { id: 't1', name: 'CI', generation: 1, scopes: ['agents:write', 'chat:run'], resources: {}, ...grant },
});

export const refused = (who: Caller | undefined, act: Act) => {
  const refusal = refusalOf(who, act);
  return refusal ? [refusal.status, refusal.code] : 'allowed';
};
export const NO_CALLER = [401, 'unauthenticated'];
