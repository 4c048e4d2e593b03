import type { Event } from '../../kernel/event-sourcing/events.js';

export type AgentId = string;
export type AgentStatus = 'draft' | 'published';

/** What only the owner's policy says: who may call from where, and which write actions key callers may run. */
export type AgentPolicy = Readonly<{
  guardrails?: Readonly<Record<string, unknown>>;
  /** `<tool id>:<action>`, sorted, each once. */
  api_write_allowlist?: readonly string[];
  restrict_origins?: boolean;
  allowed_origins?: readonly string[];
}>;

export type AgentImage = Readonly<{ sha256: string; mediaType: string; size: number }>;

/** Everything about an agent that its owner decides. */
export type AgentConfiguration = Readonly<{
  name: string;
  slug: string;
  description: string;
  image: AgentImage | null;
  agentType: string;
  /** A preset's name, the id of a prompt, or empty: the default. */
  promptId: string;
  /** The primary source, or empty. */
  source: string;
  additionalSources: readonly string[];
  /** How many chunks to retrieve; 0 retrieves nothing, null leaves it to the service. */
  chunks: number | null;
  retriever: string;
  tools: readonly string[];
  models: readonly string[];
  defaultModelId: string;
  jsonSchema: Readonly<Record<string, unknown>> | null;
  config: AgentPolicy;
  /** What key callers may use up in 24 hours; null is no limit. */
  tokenLimit: number | null;
  requestLimit: number | null;
  allowSystemPromptOverride: boolean;
  /** Whether holders of a key may ask the agent over MCP, where they may search its sources anyway. */
  mcpAsk: boolean;
  folderId: string | null;
  workflowId: string | null;
}>;

/** A key as the log may know it: never the key itself. */
export type IssuedKey = Readonly<{ keyId: string; hash: string; masked: string }>;

/** What an agent's webhook is known by: the hash of its token, and where the token itself is kept, encrypted. */
export type AgentWebhook = Readonly<{ hash: string; credentialsId: string }>;

export type AgentCreated = Event<
  'AgentCreated',
  {
    agentId: AgentId;
    ownerId: string;
    createdAt: string;
    configuration: AgentConfiguration;
    /** The import that made it. What else that import made is the owner's from here on. */
    importId?: string;
  }
>;
/** Holds exactly the fields that changed, each whole. `updatedAt` only ever grows, so it names the version a client has read. */
export type AgentUpdated = Event<
  'AgentUpdated',
  {
    agentId: AgentId;
    updatedAt: string;
    changes: Partial<AgentConfiguration>;
    /** The import that changed it. What else that import made is the owner's from here on. */
    importId?: string;
  }
>;
export type AgentPublished = Event<'AgentPublished', { agentId: AgentId; updatedAt: string }>;
export type AgentWithdrawnToDraft = Event<'AgentWithdrawnToDraft', { agentId: AgentId; updatedAt: string }>;
export type AgentKeyIssued = Event<'AgentKeyIssued', { agentId: AgentId; key: IssuedKey }>;
export type AgentKeyRevoked = Event<'AgentKeyRevoked', { agentId: AgentId; keyId: string }>;
/** The token is the agent's for good. */
export type AgentWebhookMinted = Event<'AgentWebhookMinted', { agentId: AgentId; webhook: AgentWebhook }>;
/** What the link of an agent is known by. Its token is derived from the id and not stored. */
export type AgentLink = Readonly<{ linkId: string; tokenHash: string }>;

/** Everybody who has the link may see what the agent is and, signed in, ask it. `sharedBy` is the name that the link shows. */
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
