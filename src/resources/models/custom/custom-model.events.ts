import type { Event } from '../../../kernel/event-sourcing/events.js';

export type CustomModelId = string;

/** The model's capabilities as stated by its owner, with the field names of the HTTP interface. */
export type CustomModelCapabilities = Readonly<{
  supports_tools?: boolean;
  supports_structured_output?: boolean;
  supports_streaming?: boolean;
  /** MIME types and names of groups of them: `image`, `pdf`, `audio`. */
  attachments?: readonly string[];
  context_window?: number;
  api_flavor?: 'chat_completions';
  reasoning_effort?: string;
}>;

/** A model of an endpoint that its owner configured. `credentialsId` identifies the encrypted key in the vault. */
export type CustomModelDefinition = Readonly<{
  displayName: string;
  description: string;
  /** The endpoint's name for the model. */
  upstreamModelId: string;
  baseUrl: string;
  credentialsId: string;
  capabilities: CustomModelCapabilities;
  /** A disabled model is neither listed nor used. */
  enabled: boolean;
}>;

export type CustomModelCreated = Event<
  'CustomModelCreated',
  {
    modelId: CustomModelId;
    ownerId: string;
    definition: CustomModelDefinition;
    /**
     * The import of an agent that created the model. The model is listed once the agent's stream records that the import was
     * applied.
     */
    importId?: string;
  }
>;
/** `changes` holds the changed fields with their complete new values. */
export type CustomModelChanged = Event<'CustomModelChanged', { modelId: CustomModelId; changes: Partial<CustomModelDefinition> }>;
export type CustomModelDeleted = Event<'CustomModelDeleted', { modelId: CustomModelId }>;

export type CustomModelEvent = CustomModelCreated | CustomModelChanged | CustomModelDeleted;

export const customModelStream = (id: CustomModelId): string => `customModel-${id}`;
