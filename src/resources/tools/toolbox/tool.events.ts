import type { Event } from '../../../kernel/event-sourcing/events.js';

export type ToolId = string;

/** A parameter of an action. A parameter that the model does not fill has a fixed value, which the model does not see. */
export type ParameterDefinition = Readonly<{
  type?: string | readonly string[];
  description?: string;
  filled_by_llm?: boolean;
  value?: unknown;
  default?: unknown;
  /** Whether the parameter is required, or, as in JSON Schema, which of its properties are. */
  required?: boolean | readonly string[];
  [keyword: string]: unknown;
}>;

export type ParametersDefinition = Readonly<{
  type: 'object';
  properties: Readonly<Record<string, ParameterDefinition>>;
  required?: readonly string[];
  [keyword: string]: unknown;
}>;

export type Access = 'read' | 'write';

/** An action that a tool offers to models, with the field names of the API. */
export type ActionDefinition = Readonly<{
  name: string;
  description: string;
  /** If false, the action is not offered to models. */
  active: boolean;
  parameters: ParametersDefinition;
  require_approval?: boolean;
  /** Set by the owner; it takes precedence over all other signs of what the action does. */
  access?: Access;
  /** Calling it twice has the same effect as calling it once. */
  idempotent?: boolean;
  /** The hints of a tool server about its action. */
  annotations?: Readonly<{ readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean }>;
  [field: string]: unknown;
}>;

/** A tool as its owner set it up. It holds no secrets: `credentialsId` names where they are stored, encrypted. */
export type ToolDefinition = Readonly<{
  /** The kind of the tool: `api_tool`, `mcp_tool`, `memory` … */
  name: string;
  displayName: string;
  customName: string;
  description: string;
  config: Readonly<Record<string, unknown>>;
  credentialsId: string | null;
  actions: readonly ActionDefinition[];
  /** Whether the tool is switched on. Only then it is offered to chats. */
  status: boolean;
}>;

export type ToolCreated = Event<
  'ToolCreated',
  {
    toolId: ToolId;
    ownerId: string;
    definition: ToolDefinition;
    /** The import of an agent that created the tool. The tool is listed only after the agent's import was applied. */
    importId?: string;
  }
>;
/** Holds exactly the fields that changed, each with its whole value. */
export type ToolChanged = Event<'ToolChanged', { toolId: ToolId; changes: Partial<ToolDefinition> }>;
export type ToolDeleted = Event<'ToolDeleted', { toolId: ToolId }>;

export type ToolEvent = ToolCreated | ToolChanged | ToolDeleted;

export const toolStream = (id: ToolId): string => `tool-${id}`;
