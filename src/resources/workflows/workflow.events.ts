import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import type { WorkflowGraph } from './workflow-graph.js';

export type WorkflowId = string;

/** A graph within the event, or, where it is too large for that, as a blob that belongs to this workflow alone. */
export type StoredGraph = Readonly<{ inline: WorkflowGraph }> | Readonly<{ blob: BlobRef; isOwn: true }>;

/** All that a workflow is. `version` numbers its graphs from 1; no graph of a version ever changes. */
export type WorkflowContent = Readonly<{
  workflowId: WorkflowId;
  ownerId: string;
  name: string;
  description: string;
  version: number;
  graph: StoredGraph;
  createdAt: string;
  updatedAt: string;
}>;

export type WorkflowCreated = Event<'WorkflowCreated', WorkflowContent>;
/** Holds everything as it is now, so that no older event has to be read. The version grows when the graph is another one. */
export type WorkflowChanged = Event<'WorkflowChanged', WorkflowContent>;
/** The graphs of the past stay for the runs that pinned them. */
export type WorkflowDeleted = Event<'WorkflowDeleted', { workflowId: WorkflowId; ownerId: string; deletedAt: string }>;

export type WorkflowEvent = WorkflowCreated | WorkflowChanged | WorkflowDeleted;

export const workflowStream = (workflowId: WorkflowId): string => `workflow-${workflowId}`;
