import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { AgentImportEvent } from './agent-import.events.js';

export const agentImportCodec: Codec<AgentImportEvent> = {
  AgentImportPrepared: [],
  AgentImportAccepted: [],
  AgentImportFinished: [],
};
