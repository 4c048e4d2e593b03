/** A position on the editor's canvas. */
export type NodePosition = Readonly<{ x: number; y: number }>;

/** A node as clients send it. `data` holds its settings as sent, either directly or in `data.config`. */
export type WorkflowNode = Readonly<{
  id: string;
  type: string;
  title: string;
  description: string;
  position: NodePosition;
  data: Readonly<Record<string, unknown>>;
}>;

/** A connection between two nodes. `sourceHandle` names the branch if the source is a condition. */
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
/** Maximum size of nodes and edges as JSON text. */
export const GRAPH_BYTES_MAX = 1024 * 1024;

/** Maximum number of nodes that a run executes. */
export const RUN_STEPS_MAX = 50;

/** The branch of a condition that a run takes if no case is true. */
export const ELSE_HANDLE = 'else';

export const isNodeType = (type: string): type is NodeType => NODE_TYPES.some((each) => each === type);
