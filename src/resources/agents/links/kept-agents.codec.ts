import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { KeptAgentsEvent } from './kept-agents.events.js';

export const keptAgentsCodec: Codec<KeptAgentsEvent> = { AgentKept: [], KeptAgentRemoved: [] };
