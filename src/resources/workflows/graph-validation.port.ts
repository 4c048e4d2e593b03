import type { WorkflowGraph } from './workflow-graph.policy.js';

/** A graph that was read from JSON, and what is wrong with it. A graph with problems is not to be stored. */
export type CheckedGraph = Readonly<{ graph: WorkflowGraph; problems: readonly string[] }>;

/** Says what is wrong with a graph, all at once. */
export abstract class GraphValidation {
  /** Takes `{nodes, edges}` of any shape. Each problem is a sentence that names the node or edge. @throws ExpressionFailed busy */
  abstract check(ownerId: string, nodes: unknown, edges: unknown): Promise<CheckedGraph>;
}
