import type { Event } from '../../../kernel/event-sourcing/events.js';

export type CustomModelId = string;

/** What an owner says that a model can do, in the words in which clients send and read it. */
export type CustomModelCapabilities = Readonly<{
  supports_tools?: boolean;
  supports_structured_output?: boolean;
  supports_streaming?: boolean;
  /** MIME types, and the names of groups of them: `image`, `pdf`, `audio`. */
  attachments?: readonly string[];
  context_window?: number;
  api_flavor?: 'chat_completions';
  reasoning_effort?: string;
}>;

/** A model of an endpoint that its owner names. Its key is not here: `credentialsId` names where it is kept, encrypted. */
export type CustomModelDefinition = Readonly<{
  displayName: string;
  description: string;
  /** By this name the endpoint knows it. */
  upstreamModelId: string;
  baseUrl: string;
  credentialsId: string;
  capabilities: CustomModelCapabilities;
  /** Offered and asked, or put away. */
  enabled: boolean;
}>;

export type CustomModelCreated = Event<
  'CustomModelCreated',
  {
    modelId: CustomModelId;
    ownerId: string;
    definition: CustomModelDefinition;
    /** The import of an agent that made it: it is listed once the agent says that the import was applied. */
    importId?: string;
  }
>;
/** Holds exactly the fields that changed, each whole. */
export type CustomModelChanged = Event<'CustomModelChanged', { modelId: CustomModelId; changes: Partial<CustomModelDefinition> }>;
export type CustomModelDeleted = Event<'CustomModelDeleted', { modelId: CustomModelId }>;

export type CustomModelEvent = CustomModelCreated | CustomModelChanged | CustomModelDeleted;

export const customModelStream = (id: CustomModelId): string => `customModel-${id}`;
