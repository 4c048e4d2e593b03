import { isPartyTo } from '../../resources/identity/access.policy.js';
import type { Party as Comer } from '../../resources/identity/access.policy.js';
import type { Conversation } from './turn.policy.js';

/** Who comes to a conversation: a user, or the holder of an agent's key. Every caller is one of them. */
export type Party = Comer;

/** What a conversation's own stream says of how it was begun. */
export type Beginning = Pick<Conversation, 'status' | 'ownerId' | 'agentId' | 'agentKeyId'>;

/** The events that tell how a conversation was begun: the first says it, or else the question that was stored with it does. */
export const BEGINNING_EVENTS_MAX = 2;

/** Whether a conversation belongs to a user or to the holder of a key, as the access function decides. */
export const belongsTo = (beginning: Beginning, party: Party): boolean => isPartyTo(beginning, party);
