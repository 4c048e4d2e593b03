import { Command } from '../../kernel/commands.js';
import type { Cause } from '../../kernel/event-sourcing/events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';
import type { WorkflowId } from './workflow.events.js';

export type WorkflowText = Readonly<{ name: string; description: string }>;

/** `version` is that of the graph as it stands now; a position is missing where nothing had to be written. */
export type WorkflowSaved = Readonly<{ workflowId: WorkflowId; version: number; position: bigint | undefined }>;

/** A user keeps a graph that was checked. With an id of the caller's, a repetition makes no second workflow. */
export class CreateWorkflow extends Command<WorkflowSaved> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly content: WorkflowText & Readonly<{ graph: WorkflowGraph }>,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** A workflow's owner replaces it. The same content again is no change; a checked graph that differs is a new version. */
export class ChangeWorkflow extends Command<WorkflowSaved> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly content: Partial<WorkflowText & Readonly<{ graph: WorkflowGraph }>>,
    readonly cause: Cause,
  ) {
    super();
  }
}

/** A workflow's owner throws it away. Refused while an agent uses it, other than the one that is being changed or deleted. */
export class DeleteWorkflow extends Command<bigint | undefined> {
  constructor(
    readonly workflowId: WorkflowId,
    readonly ownerId: string,
    readonly cause: Cause,
    readonly leavingAgentId?: string,
  ) {
    super();
  }
}
