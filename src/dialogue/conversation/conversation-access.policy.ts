import { isPartyTo } from '../../resources/identity/access.policy.js';
import type { Party as Comer } from '../../resources/identity/acts.policy.js';
import type { Conversation } from './turn.policy.js';

/** A caller of a conversation: a user, or the holder of an agent's key. */
export type Party = Comer;

/** The part of a conversation's state that says who started it. */
export type Beginning = Pick<Conversation, 'status' | 'ownerId' | 'agentId' | 'agentKeyId'>;

/** Number of first events that say who started a conversation: the first one, or the question that was stored with it. */
export const BEGINNING_EVENTS_MAX = 2;

/** Whether a conversation belongs to a user or to the holder of a key, by the access function. */
export const belongsTo = (beginning: Beginning, party: Party): boolean => isPartyTo(beginning, party);
