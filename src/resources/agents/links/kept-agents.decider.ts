import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../../kernel/rejection.js';
import { keptAgentsCodec } from './kept-agents.codec.js';
import type { KeptAgentsEvent } from './kept-agents.events.js';

/** Maximum number of agents in a user's list of shared agents. */
export const KEPT_AGENTS_MAX = 500;

/** Maps the id of each agent in the list to the id of the link by which the user opened it. */
export type KeptAgents = ReadonlyMap<string, string>;

export const keptAgents: Aggregate<KeptAgents, KeptAgentsEvent> = { initial: new Map(), evolve, codec: keptAgentsCodec };

function evolve(state: KeptAgents, { type, data }: KeptAgentsEvent): KeptAgents {
  const next = new Map(state);
  if (type === 'AgentKept') return next.set(data.agentId, data.linkId);
  next.delete(data.agentId);
  return next;
}

type Decide = Decision<KeptAgents, KeptAgentsEvent>;

/** Adds an agent to the list when the user opens its link. Opening the same link again has no effect. */
export const keep =
  (userId: string, agentId: string, linkId: string, now: Date): Decide =>
  (state) => {
    if (state.get(agentId) === linkId) return [];
    if (!state.has(agentId) && state.size >= KEPT_AGENTS_MAX)
      throw new Rejection('too-many-kept-agents', `There can be at most ${KEPT_AGENTS_MAX} shared agents in the list.`);
    return [{ type: 'AgentKept', data: { userId, agentId, linkId, keptAt: now.toISOString() } }];
  };

/** @throws Rejection shared-agent-not-found if the agent is not in the list */
export const removeKept =
  (userId: string, agentId: string): Decide =>
  (state) => {
    if (!state.has(agentId)) throw sharedAgentNotFound();
    return [{ type: 'KeptAgentRemoved', data: { userId, agentId } }];
  };

export const sharedAgentNotFound = () => new Rejection('shared-agent-not-found', 'Shared agent not found');
