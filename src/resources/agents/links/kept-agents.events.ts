import type { Event } from '../../../kernel/event-sourcing/events.js';

/** A user came to an agent by its link, and finds it in the list of shared agents while the link is open. */
export type AgentKept = Event<'AgentKept', { userId: string; agentId: string; linkId: string; keptAt: string }>;
export type KeptAgentRemoved = Event<'KeptAgentRemoved', { userId: string; agentId: string }>;

export type KeptAgentsEvent = AgentKept | KeptAgentRemoved;

export const keptAgentsStream = (userId: string): string => `keptAgents-${userId}`;
