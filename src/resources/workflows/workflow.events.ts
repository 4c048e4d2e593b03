import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

export type WorkflowId = string;

/** A graph within the event, or, where it is too large for that, as a blob that belongs to this workflow alone. */
export type StoredGraph = Readonly<{ inline: WorkflowGraph }> | Readonly<{ blob: BlobRef; isOwn: true }>;

/**
 * The graph that a turn runs: a version of a workflow, or a graph that came with the question, as the editor sends one that is
 * not saved. The id of such a graph names the workflow that is being edited, if there is one.
 */
export type PinnedWorkflow = Readonly<{ id: string; version: number }> | Readonly<{ id: string | null; draft: StoredGraph }>;

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
  /** The newest import of an agent that wrote it. */
  importId?: string;
}>;

export type WorkflowCreated = Event<'WorkflowCreated', WorkflowContent>;
/** Holds everything as it is now, so that no older event has to be read. The version grows when the graph is another one. */
export type WorkflowChanged = Event<
  'WorkflowChanged',
  WorkflowContent & {
    /** Agents run it, and its owner reads it, once an agent says that it was imported. */
    awaitsImport?: true;
  }
>;
/** The graphs of the past stay for the runs that pinned them. */
export type WorkflowDeleted = Event<'WorkflowDeleted', { workflowId: WorkflowId; ownerId: string; deletedAt: string }>;

export type WorkflowEvent = WorkflowCreated | WorkflowChanged | WorkflowDeleted;

export const workflowStream = (workflowId: WorkflowId): string => `workflow-${workflowId}`;
