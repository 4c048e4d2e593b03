import type { Conversation } from './turn.policy.js';

/** Who comes to a conversation: somebody signed in, or the holder of an agent's key. Every caller is one of them. */
export type Party = Readonly<{ userId: string } | { agentId: string; ownerId: string }>;

/** What a conversation's own stream says of how it was begun. */
export type Beginning = Pick<Conversation, 'status' | 'ownerId' | 'agentId' | 'agentKeyId'>;

/** The events that tell how a conversation was begun: the first says it, or else the question that was stored with it does. */
export const BEGINNING_EVENTS_MAX = 2;

/**
 * Whether a conversation is the caller's: it belongs to its owner and, where it was begun with an agent's key, to every holder
 * of that agent's key, which may have been regenerated since. Who sends a key comes as its holder, also when signed in.
 */
export const belongsTo = ({ status, ownerId, agentId, agentKeyId }: Beginning, party: Party): boolean => {
  if (status !== 'open') return false;
  if ('userId' in party) return ownerId === party.userId;
  return ownerId === party.ownerId && agentId === party.agentId && typeof agentKeyId === 'string';
};
