import { agentKeyHash, maskedAgentKey, newAgentKey } from '../identity/agent-keys.policy.js';
import { newId } from '../../kernel/ids.js';
import type { IssuedKey } from './agent.events.js';

/** A key in the one moment it is known: what the caller is shown, and what the log keeps. */
export type FreshKey = Readonly<{ key: string; issued: IssuedKey }>;

export const freshKey = (key = newAgentKey()): FreshKey => ({
  key,
  issued: { keyId: newId(), hash: agentKeyHash(key), masked: maskedAgentKey(key) },
});
