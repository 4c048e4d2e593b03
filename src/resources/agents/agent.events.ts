import type { Event } from '../../kernel/event-sourcing/events.js';

export type AgentId = string;
export type AgentStatus = 'draft' | 'published';

/** The policy of an agent: its guardrails, the origins that may call it, and the write actions that key callers may run. */
export type AgentPolicy = Readonly<{
  guardrails?: Readonly<Record<string, unknown>>;
  /** Entries `<tool id>:<action>`, sorted, without duplicates. */
  api_write_allowlist?: readonly string[];
  restrict_origins?: boolean;
  allowed_origins?: readonly string[];
}>;

export type AgentImage = Readonly<{ sha256: string; mediaType: string; size: number }>;

/** The settings of an agent that its owner chooses. */
export type AgentConfiguration = Readonly<{
  name: string;
  slug: string;
  description: string;
  image: AgentImage | null;
  agentType: string;
  /** The name of a preset or the id of a prompt. Empty for the default. */
  promptId: string;
  /** The primary source, or empty. */
  source: string;
  additionalSources: readonly string[];
  /** The number of chunks to retrieve. 0 retrieves nothing, null uses the default of the service. */
  chunks: number | null;
  retriever: string;
  tools: readonly string[];
  models: readonly string[];
  defaultModelId: string;
  jsonSchema: Readonly<Record<string, unknown>> | null;
  config: AgentPolicy;
  /** The number of tokens that key callers may use in 24 hours. Null for no limit. */
  tokenLimit: number | null;
  requestLimit: number | null;
  allowSystemPromptOverride: boolean;
  /** Whether holders of a key may ask the agent over MCP. They may search its sources there in any case. */
  mcpAsk: boolean;
  folderId: string | null;
  workflowId: string | null;
}>;

/** What the log stores of a key, which is never the key itself. */
export type IssuedKey = Readonly<{ keyId: string; hash: string; masked: string }>;

/** The hash of a webhook's token, and the id of the credentials that hold the encrypted token. */
export type AgentWebhook = Readonly<{ hash: string; credentialsId: string }>;

export type AgentCreated = Event<
  'AgentCreated',
  {
    agentId: AgentId;
    ownerId: string;
    createdAt: string;
    configuration: AgentConfiguration;
    /** The import that created the agent. With this event, everything else that the import created becomes the owner's. */
    importId?: string;
  }
>;
/** Holds only the fields that changed, with their complete new values. `updatedAt` always grows, so it identifies a version. */
export type AgentUpdated = Event<
  'AgentUpdated',
  {
    agentId: AgentId;
    updatedAt: string;
    changes: Partial<AgentConfiguration>;
    /** The import that changed the agent. With this event, everything else that the import created becomes the owner's. */
    importId?: string;
  }
>;
export type AgentPublished = Event<'AgentPublished', { agentId: AgentId; updatedAt: string }>;
export type AgentWithdrawnToDraft = Event<'AgentWithdrawnToDraft', { agentId: AgentId; updatedAt: string }>;
export type AgentKeyIssued = Event<'AgentKeyIssued', { agentId: AgentId; key: IssuedKey }>;
export type AgentKeyRevoked = Event<'AgentKeyRevoked', { agentId: AgentId; keyId: string }>;
/** The token of an agent's webhook never changes. */
export type AgentWebhookMinted = Event<'AgentWebhookMinted', { agentId: AgentId; webhook: AgentWebhook }>;
/** The id of an agent's link and the hash of its token. The token is derived from the id and is not stored. */
export type AgentLink = Readonly<{ linkId: string; tokenHash: string }>;

/** Anyone with the link may see the agent's description, and signed-in users may ask it. The link shows the name `sharedBy`. */
export type AgentLinked = Event<'AgentLinked', { agentId: AgentId; link: AgentLink; sharedBy: string; sharedAt: string }>;
export type AgentLinkEnded = Event<'AgentLinkEnded', { agentId: AgentId; linkId: string }>;
export type AgentPinned = Event<'AgentPinned', { agentId: AgentId; userId: string }>;
export type AgentUnpinned = Event<'AgentUnpinned', { agentId: AgentId; userId: string }>;
export type AgentDeleted = Event<'AgentDeleted', { agentId: AgentId }>;

export type AgentEvent =
  | AgentCreated
  | AgentUpdated
  | AgentPublished
  | AgentWithdrawnToDraft
  | AgentKeyIssued
  | AgentKeyRevoked
  | AgentWebhookMinted
  | AgentLinked
  | AgentLinkEnded
  | AgentPinned
  | AgentUnpinned
  | AgentDeleted;

export const agentStream = (agentId: AgentId): string => `agent-${agentId}`;
