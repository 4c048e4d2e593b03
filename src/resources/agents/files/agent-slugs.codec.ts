import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { AgentSlugsEvent } from './agent-slugs.events.js';

export const agentSlugsCodec: Codec<AgentSlugsEvent> = { AgentSlugReserved: [], AgentSlugReleased: [] };
