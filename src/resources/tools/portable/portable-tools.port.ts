import type { ToolDefinition } from '../toolbox/tool.events.js';

/** What an owner decided about an action of a tool. Fixed values of parameters that have the names of credentials are not among it. */
export type PortableChoice = Readonly<{
  name: string;
  active?: boolean;
  require_approval?: boolean;
  access?: 'read' | 'write';
  parameters?: Readonly<Record<string, Readonly<{ filled_by_llm?: boolean; value?: unknown }>>>;
}>;

/** A tool as it may leave the service: without a secret, and without what belongs to one account. */
export type PortableTool = Readonly<{
  type: string;
  name: string;
  display_name: string;
  description: string;
  config: Readonly<Record<string, unknown>>;
  actions: readonly PortableChoice[];
  /** Undefined where it is not known. */
  requires_secrets: readonly string[] | undefined;
}>;

/** A tool that came in, ready to be stated as an event, and what did not come along. */
export type PreparedTool = Readonly<{ definition: ToolDefinition; warnings: readonly string[] }>;

/** Why a tool that came in is not set up, in words for its owner. */
export class ToolNotPortable extends Error {
  override readonly name = 'ToolNotPortable';
}

/** Takes tools out of the service and brings them in. */
export abstract class PortableTools {
  /** Whether tools of this kind can be set up here. */
  abstract isOffered(type: string): boolean;
  /** Whether the service gives this kind to every user. */
  abstract isBuiltin(type: string): boolean;
  /** What a tool cannot be set up without. */
  abstract neededSecrets(tool: PortableTool): readonly string[];
  abstract exported(ownerId: string, definition: ToolDefinition): Promise<PortableTool>;
  /**
   * Checks a tool as one that its owner sets up, and seals its secrets. Nothing else is stored.
   * @throws ToolNotPortable
   */
  abstract prepare(ownerId: string, tool: PortableTool, secrets: Readonly<Record<string, string>>): Promise<PreparedTool>;
  /** Forgets the secrets of a tool that is not stated after all. */
  abstract discard(ownerId: string, definition: ToolDefinition): Promise<void>;
}
