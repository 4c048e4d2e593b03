import type { Codec } from '../../kernel/event-sourcing/codec.js';
import type { AgentCreated, AgentEvent } from './agent.events.js';

type CreatedV1 = Omit<AgentCreated['data'], 'configuration'> &
  Readonly<{ configuration: Omit<AgentCreated['data']['configuration'], 'mcpAsk'> }>;

export const agentCodec: Codec<AgentEvent> = {
  AgentCreated: [
    ({ configuration, ...data }: CreatedV1): AgentCreated['data'] => ({
      ...data,
      configuration: { ...configuration, mcpAsk: false },
    }),
  ],
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
