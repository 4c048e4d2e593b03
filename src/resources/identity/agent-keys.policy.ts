import { createHash, randomUUID } from 'node:crypto';
import { Rejection } from '../../kernel/rejection.js';
import type { AgentKeyHolder } from './agent-key-directory.port.js';

/** Longer texts are not looked up as keys. */
export const AGENT_KEY_CHARACTERS_MAX = 256;

/** A new agent key: a random UUID (version 4, 122 bits), which is the form that existing clients expect. */
export const newAgentKey = (): string => randomUUID();

/** The hash of a key, which is stored. It needs no salt and no slow hash, because 122 random bits cannot be guessed. */
export const agentKeyHash = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * The holder, if a request may use the key. Browsers send the origin of the page in `Origin`, and the owner may restrict it.
 * Other clients send no origin and are not restricted.
 * @throws Rejection unknown-agent-key, origin-not-allowed
 */
export function usableKey(holder: AgentKeyHolder | undefined, origin: string | undefined): AgentKeyHolder {
  if (!holder || holder.isDraft) throw new Rejection('unknown-agent-key', 'Invalid API key');
  if (origin !== undefined && holder.origins && !holder.origins.includes(origin)) {
    throw new Rejection('origin-not-allowed', "This origin is not allowed to use this agent's API key.");
  }
  return holder;
}

/** The form in which a key is shown after its creation: `1a2b...7f90`. */
export const maskedAgentKey = (key: string): string => (key.length > 8 ? `${key.slice(0, 4)}...${key.slice(-4)}` : '...');
