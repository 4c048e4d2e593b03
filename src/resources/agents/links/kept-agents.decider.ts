import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { keptAgentsCodec } from './kept-agents.codec.js';
import type { KeptAgentsEvent } from './kept-agents.events.js';

/** The most agents of others that a user keeps at once. */
export const KEPT_AGENTS_MAX = 500;

/** By the ids of the agents, the ids of the links by which the user came to them. */
export type KeptAgents = ReadonlyMap<string, string>;

export const keptAgents: Aggregate<KeptAgents, KeptAgentsEvent> = { initial: new Map(), evolve, codec: keptAgentsCodec };

function evolve(state: KeptAgents, { type, data }: KeptAgentsEvent): KeptAgents {
  const next = new Map(state);
  if (type === 'AgentKept') return next.set(data.agentId, data.linkId);
  next.delete(data.agentId);
  return next;
}

type Decide = Decision<KeptAgents, KeptAgentsEvent>;

/** A visit keeps the agent, once for each of its links. */
export const keep =
  (userId: string, agentId: string, linkId: string, now: Date): Decide =>
  (state) => {
    if (state.get(agentId) === linkId) return [];
    if (!state.has(agentId) && state.size >= KEPT_AGENTS_MAX)
      throw new Rejection('too-many-kept-agents', `There can be at most ${KEPT_AGENTS_MAX} shared agents in the list.`);
    return [{ type: 'AgentKept', data: { userId, agentId, linkId, keptAt: now.toISOString() } }];
  };

/** @throws Rejection shared-agent-not-found */
export const removeKept =
  (userId: string, agentId: string): Decide =>
  (state) => {
    if (!state.has(agentId)) throw sharedAgentNotFound();
    return [{ type: 'KeptAgentRemoved', data: { userId, agentId } }];
  };

export const sharedAgentNotFound = () => new Rejection('shared-agent-not-found', 'Shared agent not found');
