import type { PinnedWorkflow, StoredGraph } from './workflow.events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

/** The graphs of workflows, whichever version. */
export abstract class WorkflowGraphs {
  /** Undefined where there is no such version. @throws BlobMissing, BlobsUnavailable */
  abstract graphAt(workflowId: string, version: number): Promise<WorkflowGraph | undefined>;
  /** @throws BlobMissing, BlobsUnavailable */
  abstract pinned(pinned: PinnedWorkflow): Promise<WorkflowGraph | undefined>;
  /** As events keep it: within the event while it is small. `keeper` names what it belongs to. @throws BlobsUnavailable */
  abstract store(keeper: string, graph: WorkflowGraph): Promise<StoredGraph>;
}
