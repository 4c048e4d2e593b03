import { createHash, randomUUID } from 'node:crypto';
import { Rejection } from '../../kernel/rejection.js';
import type { AgentKeyHolder } from './agent-key-directory.port.js';

/** No longer text is looked up as a key. */
export const AGENT_KEY_CHARACTERS_MAX = 256;

/** A fresh agent key: a random UUID (version 4, 122 bits), the form existing clients expect. */
export const newAgentKey = (): string => randomUUID();

/** What is stored of a key. A plain hash is enough for a secret of 122 random bits: there is nothing to guess. */
export const agentKeyHash = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * Whether a key may be used by a request, whatever its route. Browsers say in `Origin` which page sends it, and an owner may keep
 * pages from using a key; callers without a page say nothing and are not meant.
 * @throws Rejection unknown-agent-key, origin-not-allowed
 */
export function usableKey(holder: AgentKeyHolder | undefined, origin: string | undefined): AgentKeyHolder {
  if (!holder || holder.isDraft) throw new Rejection('unknown-agent-key', 'Invalid API key');
  if (origin !== undefined && holder.origins && !holder.origins.includes(origin)) {
    throw new Rejection('origin-not-allowed', "This origin is not allowed to use this agent's API key.");
  }
  return holder;
}

/** How a key is shown again after its first time: `1a2b...7f90`. */
export const maskedAgentKey = (key: string): string => (key.length > 8 ? `${key.slice(0, 4)}...${key.slice(-4)}` : '...');
