import type { Cause } from '../../../kernel/event-sourcing/events.js';
import type { ToolDefinition } from '../toolbox/tool.events.js';

/** The changes that an owner made to an action. Fixed values of parameters with names typical of credentials are left out. */
export type PortableChoice = Readonly<{
  name: string;
  active?: boolean;
  require_approval?: boolean;
  access?: 'read' | 'write';
  parameters?: Readonly<Record<string, Readonly<{ filled_by_llm?: boolean; value?: unknown }>>>;
}>;

/** A tool in an exported file: without secrets and without what belongs to one account. */
export type PortableTool = Readonly<{
  type: string;
  name: string;
  display_name: string;
  description: string;
  config: Readonly<Record<string, unknown>>;
  actions: readonly PortableChoice[];
  /** Undefined if it is not known. */
  requires_secrets: readonly string[] | undefined;
}>;

/** An imported tool, ready to be appended as an event, and warnings about the parts that were left out. */
export type PreparedTool = Readonly<{ definition: ToolDefinition; warnings: readonly string[] }>;

/** The reason why an imported tool is not set up, in words for its owner. */
export class ToolNotPortable extends Error {
  override readonly name = 'ToolNotPortable';
}

/** Exports and imports tools. */
export abstract class PortableTools {
  /** Whether tools of this kind can be set up here. */
  abstract isOffered(type: string): boolean;
  /** Whether every user has a default tool of this kind. */
  abstract isBuiltin(type: string): boolean;
  /** The names of the secrets that a tool needs to be set up. */
  abstract neededSecrets(tool: PortableTool): readonly string[];
  abstract exported(ownerId: string, definition: ToolDefinition): Promise<PortableTool>;
  /**
   * Checks an imported tool as if its owner set it up, and stores its secrets encrypted. Stores nothing else.
   * @throws ToolNotPortable
   */
  abstract prepare(
    ownerId: string,
    tool: PortableTool,
    secrets: Readonly<Record<string, string>>,
    cause: Cause,
  ): Promise<PreparedTool>;
  /** Deletes the secrets of a prepared tool that is not imported after all. */
  abstract discard(ownerId: string, definition: ToolDefinition): Promise<void>;
}
