import type { Event } from '../../../kernel/event-sourcing/events.js';
import { deterministicId } from '../../../kernel/ids.js';
import type { AgentId } from '../agent.events.js';

/** A slug is an agent's from now on: of a user's agents no other gets it. It is reserved before the agent says that it has it. */
export type AgentSlugReserved = Event<'AgentSlugReserved', { ownerId: string; agentId: AgentId; slug: string }>;
export type AgentSlugReleased = Event<'AgentSlugReleased', { ownerId: string; agentId: AgentId; slug: string }>;

export type AgentSlugsEvent = AgentSlugReserved | AgentSlugReleased;

/** A user may have any text for an id, a stream may not have any text for a name. */
export const agentSlugsStream = (ownerId: string): string => `agentSlugs-${deterministicId('agent-slugs', ownerId)}`;
