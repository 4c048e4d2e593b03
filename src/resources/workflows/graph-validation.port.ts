import type { WorkflowGraph } from './workflow-graph.policy.js';

/** A graph that was read from JSON, and what is wrong with it. A graph with problems is not to be stored. */
export type CheckedGraph = Readonly<{ graph: WorkflowGraph; problems: readonly string[] }>;

/** Says what is wrong with a graph, all at once. */
export abstract class GraphValidation {
  /** Takes `{nodes, edges}` of any shape. Each problem is a sentence that names the node or edge. @throws ExpressionFailed busy */
  abstract check(ownerId: string, nodes: unknown, edges: unknown): Promise<CheckedGraph>;
  /** The graph, where nothing is wrong with it. @throws Rejection workflow-not-valid, with everything that is wrong */
  abstract sound(ownerId: string, nodes: unknown, edges: unknown): Promise<WorkflowGraph>;
  /** The graph, where its owner may also use all that it names. @throws Rejection workflow-not-valid, source-…, tool-not-accessible */
  abstract usable(ownerId: string, nodes: unknown, edges: unknown): Promise<WorkflowGraph>;
}
