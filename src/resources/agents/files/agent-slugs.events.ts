import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { AgentId } from '../agent.events.js';

/** No other agent of the user can get this slug until it is released. It is reserved before the agent's event that sets it. */
export type AgentSlugReserved = Event<'AgentSlugReserved', { ownerId: string; agentId: AgentId; slug: string }>;
export type AgentSlugReleased = Event<'AgentSlugReleased', { ownerId: string; agentId: AgentId; slug: string }>;

export type AgentSlugsEvent = AgentSlugReserved | AgentSlugReleased;

/** The user's id is hashed, because it may contain characters that a stream's name must not contain. */
export const agentSlugsStream = (ownerId: string): string => `agentSlugs-${deterministicId('agent-slugs', ownerId)}`;
