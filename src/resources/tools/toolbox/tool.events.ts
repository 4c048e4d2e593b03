import type { Event } from '../../../kernel/event-sourcing/events.js';

export type ToolId = string;

/** A parameter of an action. What the model does not fill has a fixed value, which the model never sees. */
export type ParameterDefinition = Readonly<{
  type?: string;
  description?: string;
  filled_by_llm?: boolean;
  value?: unknown;
  default?: unknown;
  required?: boolean;
  [keyword: string]: unknown;
}>;

export type ParametersDefinition = Readonly<{
  type: 'object';
  properties: Readonly<Record<string, ParameterDefinition>>;
  required?: readonly string[];
  [keyword: string]: unknown;
}>;

export type Access = 'read' | 'write';

/** What a tool can do for a model, in the words in which clients send and read it. */
export type ActionDefinition = Readonly<{
  name: string;
  description: string;
  /** Switched off, it is not offered to models. */
  active: boolean;
  parameters: ParametersDefinition;
  require_approval?: boolean;
  /** Said by the owner, it goes before every other sign of what the action does. */
  access?: Access;
  /** Calling it twice is the same as calling it once. */
  idempotent?: boolean;
  /** What a tool server says of its action. */
  annotations?: Readonly<{ readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean }>;
  [field: string]: unknown;
}>;

/** A tool as its owner set it up. Secrets are not here: `credentialsId` names where they are kept, encrypted. */
export type ToolDefinition = Readonly<{
  /** What kind of tool it is: `api_tool`, `mcp_tool`, `memory` … */
  name: string;
  displayName: string;
  customName: string;
  description: string;
  config: Readonly<Record<string, unknown>>;
  credentialsId: string | null;
  actions: readonly ActionDefinition[];
  /** Offered to chats, or put away. */
  status: boolean;
}>;

export type ToolCreated = Event<
  'ToolCreated',
  {
    toolId: ToolId;
    ownerId: string;
    definition: ToolDefinition;
    /** The import of an agent that made it: it is listed once the agent says that the import was applied. */
    importId?: string;
  }
>;
/** Holds exactly the fields that changed, each whole. */
export type ToolChanged = Event<'ToolChanged', { toolId: ToolId; changes: Partial<ToolDefinition> }>;
export type ToolDeleted = Event<'ToolDeleted', { toolId: ToolId }>;

export type ToolEvent = ToolCreated | ToolChanged | ToolDeleted;

export const toolStream = (id: ToolId): string => `tool-${id}`;
