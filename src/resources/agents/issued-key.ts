import { agentKeyHash, maskedAgentKey, newAgentKey } from '../identity/agent-keys.policy.js';
import { newId } from '../../kernel/ids.js';
import type { IssuedKey } from './agent.events.js';

/** A new key, which the caller sees once, with what the log stores of it. */
export type FreshKey = Readonly<{ key: string; issued: IssuedKey }>;

export const freshKey = (key = newAgentKey()): FreshKey => ({
  key,
  issued: { keyId: newId(), hash: agentKeyHash(key), masked: maskedAgentKey(key) },
});
