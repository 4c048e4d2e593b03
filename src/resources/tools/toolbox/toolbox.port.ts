import type { Access } from './tool.events.js';
import type { ApprovalNeed, CallContext } from './tool-kind.port.js';

/** A tool as it was when a question was accepted: later changes do not reach the turn. */
export type ToolPin = Readonly<{ toolId: string; revision: number }>;

/** An action that a turn's model may ask for. */
export type OfferedAction = Readonly<{
  toolId: string;
  /** The kind of the tool. */
  toolName: string;
  actionName: string;
  description: string;
  /** JSON Schema of what the model fills. */
  parameters: object;
  access: Access;
  idempotent: boolean;
  requiresApproval: boolean;
  /** There where it depends on the arguments of a call whether that needs an approval. */
  approvalOf?: (args: Readonly<Record<string, unknown>>) => Promise<ApprovalNeed>;
  /** The remote device that it reaches. */
  deviceId?: string;
  /** It acts with an account or a secret of the tool's owner. */
  ownerCredentials: boolean;
}>;

/** Whose turn it is and what it may use. */
export type ToolScope = Readonly<{
  pins: readonly ToolPin[];
  /** Whose tools and credentials they are. */
  ownerId: string;
  agentId: string | null;
  /** `agentic` agents get the internal tools `think` and, with sources, `internal_search`. */
  agentType: string;
  hasSources: boolean;
}>;

/** The tools of one turn. */
export abstract class OpenTools {
  abstract readonly actions: readonly OfferedAction[];
  /** What the user is told of tools that are not to be had. */
  abstract readonly notices: readonly string[];
  /**
   * Runs an action of a pinned tool, as the pin says, unless the tool has since been deleted, put away or given other
   * credentials. Resolves to JSON. @throws ToolFailed
   */
  abstract run(action: OfferedAction, args: Readonly<Record<string, unknown>>, context: CallContext): Promise<unknown>;
}

/** Where turns find their tools. */
export abstract class Toolbox {
  /** The newest revision of each of these tools that the owner has and that is switched on; without ids, of all of them. */
  abstract pin(ownerId: string, toolIds: readonly string[] | undefined): Promise<readonly ToolPin[]>;
  abstract open(scope: ToolScope): Promise<OpenTools>;
}
