import type { Event } from '../../../kernel/event-sourcing/events.js';

/** A user opened the link of an agent. The list of shared agents shows the agent while the link is open. */
export type AgentKept = Event<'AgentKept', { userId: string; agentId: string; linkId: string; keptAt: string }>;
export type KeptAgentRemoved = Event<'KeptAgentRemoved', { userId: string; agentId: string }>;

export type KeptAgentsEvent = AgentKept | KeptAgentRemoved;

export const keptAgentsStream = (userId: string): string => `keptAgents-${userId}`;
