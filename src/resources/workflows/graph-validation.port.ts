import type { WorkflowGraph } from './workflow-graph.policy.js';

/** A graph read from JSON, and its problems. A graph with problems must not be stored. */
export type CheckedGraph = Readonly<{ graph: WorkflowGraph; problems: readonly string[] }>;

/** Checks graphs and reports all problems at once. */
export abstract class GraphValidation {
  /** Accepts nodes and edges of any shape. Each problem is a sentence that names the node or edge. @throws ExpressionFailed busy */
  abstract check(ownerId: string, nodes: unknown, edges: unknown): Promise<CheckedGraph>;
  /** Returns the graph if it has no problems. @throws Rejection workflow-not-valid, with all problems */
  abstract sound(ownerId: string, nodes: unknown, edges: unknown): Promise<WorkflowGraph>;
  /**
   * Returns the graph if it has no problems and the owner may use all tools and sources in it.
   * @throws Rejection workflow-not-valid, source-not-accessible, tool-not-accessible
   */
  abstract usable(ownerId: string, nodes: unknown, edges: unknown): Promise<WorkflowGraph>;
}
