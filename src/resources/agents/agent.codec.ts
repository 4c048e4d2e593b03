import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { AgentEvent } from './agent.events.js';

export const agentCodec: Codec<AgentEvent> = {
  AgentCreated: [],
  AgentUpdated: [],
  AgentPublished: [],
  AgentWithdrawnToDraft: [],
  AgentKeyIssued: [],
  AgentKeyRevoked: [],
  AgentWebhookMinted: [],
  AgentLinked: [],
  AgentLinkEnded: [],
  AgentPinned: [],
  AgentUnpinned: [],
  AgentDeleted: [],
};
