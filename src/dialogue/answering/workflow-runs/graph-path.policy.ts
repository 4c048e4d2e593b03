import type { WorkflowGraph, WorkflowNode } from '../../../resources/workflows/workflow-graph.policy.js';
import type { BegunNode } from './run/workflow-run.decider.js';

export const nodeById = ({ nodes }: WorkflowGraph, id: string): WorkflowNode | undefined => nodes.find((node) => node.id === id);

export const startNode = ({ nodes }: WorkflowGraph): WorkflowNode | undefined => nodes.find(({ type }) => type === 'start');

/** Which node follows: the first way out, of a condition that of its chosen branch. Undefined: there is none. */
export const followingId = (
  { edges }: WorkflowGraph,
  { id, type }: WorkflowNode,
  handle: string | undefined,
): string | undefined =>
  edges.find(({ source, sourceHandle }) => source === id && (type !== 'condition' || sourceHandle === handle))?.target;

export const begunNode = ({ id, type, title }: WorkflowNode): BegunNode => ({ nodeId: id, nodeType: type, title });
