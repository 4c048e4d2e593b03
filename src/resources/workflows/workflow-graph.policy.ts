/** A place on the canvas of the editor. */
export type NodePosition = Readonly<{ x: number; y: number }>;

/** A node as clients write it. `data` holds its settings as they were written, flat or within `data.config`. */
export type WorkflowNode = Readonly<{
  id: string;
  type: string;
  title: string;
  description: string;
  position: NodePosition;
  data: Readonly<Record<string, unknown>>;
}>;

/** A way from one node to another. The handle of the source says which branch of a condition it is. */
export type WorkflowEdge = Readonly<{
  id: string;
  source: string;
  target: string;
  sourceHandle: string | null;
  targetHandle: string | null;
}>;

export type WorkflowGraph = Readonly<{ nodes: readonly WorkflowNode[]; edges: readonly WorkflowEdge[] }>;

const NODE_TYPES = ['start', 'end', 'note', 'agent', 'state', 'condition', 'code'] as const;

export type NodeType = (typeof NODE_TYPES)[number];

export const GRAPH_NODES_MAX = 200;
export const GRAPH_EDGES_MAX = 400;
/** Of its nodes and edges as JSON text. */
export const GRAPH_BYTES_MAX = 1024 * 1024;

/** How many nodes a run executes at most. */
export const RUN_STEPS_MAX = 50;

/** The branch of a condition that is taken when no case is true. */
export const ELSE_HANDLE = 'else';

export const isNodeType = (type: string): type is NodeType => NODE_TYPES.some((each) => each === type);
