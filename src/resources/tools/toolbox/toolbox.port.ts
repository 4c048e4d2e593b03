import type { Access } from './tool.events.js';
import type { ApprovalNeed, CallContext } from './tool-kind.port.js';

/** A tool at the revision that it had when the question was accepted. Later changes do not affect the turn. */
export type ToolPin = Readonly<{ toolId: string; revision: number }>;

/** An action that the model of a turn may call. */
export type OfferedAction = Readonly<{
  toolId: string;
  /** The kind of the tool. */
  toolName: string;
  actionName: string;
  description: string;
  /** The JSON Schema of the parameters that the model fills. */
  parameters: object;
  access: Access;
  idempotent: boolean;
  requiresApproval: boolean;
  /** Present if the arguments of a call decide whether it needs an approval. */
  approvalOf?: (args: Readonly<Record<string, unknown>>) => Promise<ApprovalNeed>;
  /** The remote device that the action uses. */
  deviceId?: string;
  /** Whether the action acts with an account or a secret of the tool's owner. */
  ownerCredentials: boolean;
}>;

/** The owner and the tools of a turn. */
export type ToolScope = Readonly<{
  pins: readonly ToolPin[];
  /** The owner of the tools and credentials. */
  ownerId: string;
  agentId: string | null;
  /** `agentic` agents get the internal tools `think` and, with sources, `internal_search`. */
  agentType: string;
  hasSources: boolean;
}>;

/** The tools of one turn. */
export abstract class OpenTools {
  abstract readonly actions: readonly OfferedAction[];
  /** Messages for the user about pinned tools that are not available. */
  abstract readonly notices: readonly string[];
  /**
   * Runs an action of a tool at its pinned revision, unless the tool has since been deleted, switched off or given other
   * credentials. Resolves to JSON. @throws ToolFailed
   */
  abstract run(action: OfferedAction, args: Readonly<Record<string, unknown>>, context: CallContext): Promise<unknown>;
}

/** Pins and opens the tools of turns. */
export abstract class Toolbox {
  /**
   * The newest revision of each of these tools that the owner may use and that is switched on; without ids, of all of the owner's
   * tools.
   */
  abstract pin(ownerId: string, toolIds: readonly string[] | undefined): Promise<readonly ToolPin[]>;
  abstract open(scope: ToolScope): Promise<OpenTools>;
}
