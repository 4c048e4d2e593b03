import type { WorkflowGraph, WorkflowNode } from '../../../resources/workflows/workflow-graph.policy.js';
import type { StepNode } from './run/workflow-run.decider.js';

export const nodeById = ({ nodes }: WorkflowGraph, id: string): WorkflowNode | undefined => nodes.find((node) => node.id === id);

export const startNode = ({ nodes }: WorkflowGraph): WorkflowNode | undefined => nodes.find(({ type }) => type === 'start');

/**
 * The id of the following node: the target of the first outgoing edge, for a condition that of the chosen branch; undefined if
 * there is no edge.
 */
export const followingId = (
  { edges }: WorkflowGraph,
  { id, type }: WorkflowNode,
  handle: string | undefined,
): string | undefined =>
  edges.find(({ source, sourceHandle }) => source === id && (type !== 'condition' || sourceHandle === handle))?.target;

export const stepNodeOf = ({ id, type, title }: WorkflowNode): StepNode => ({ nodeId: id, nodeType: type, title });
