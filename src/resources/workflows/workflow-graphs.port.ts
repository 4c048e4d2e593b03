import type { PinnedWorkflow, StoredGraph } from './workflow.events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

/** Reads and stores the graphs of all versions of workflows. */
export abstract class WorkflowGraphs {
  /** Undefined if the version does not exist. @throws BlobMissing, BlobsUnavailable */
  abstract graphAt(workflowId: string, version: number): Promise<WorkflowGraph | undefined>;
  /** @throws BlobMissing, BlobsUnavailable */
  abstract pinned(pinned: PinnedWorkflow): Promise<WorkflowGraph | undefined>;
  /**
   * Prepares a graph for an event: small graphs are stored in the event, larger ones as a blob that belongs to `keeper`. @throws
   * BlobsUnavailable
   */
  abstract store(keeper: string, graph: WorkflowGraph): Promise<StoredGraph>;
}
