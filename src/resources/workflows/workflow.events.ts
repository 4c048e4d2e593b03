import type { BlobRef } from '../../kernel/blobs.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import type { WorkflowGraph } from './workflow-graph.policy.js';

export type WorkflowId = string;

/** A graph in the event, or, if it is too large, as a blob that belongs to this workflow alone. */
export type StoredGraph = Readonly<{ inline: WorkflowGraph }> | Readonly<{ blob: BlobRef; isOwn: true }>;

/**
 * The graph that a turn runs: a version of a workflow, or an unsaved graph that the editor sent with the question. The id of such
 * a draft is that of the edited workflow, if there is one.
 */
export type PinnedWorkflow = Readonly<{ id: string; version: number }> | Readonly<{ id: string | null; draft: StoredGraph }>;

/** The complete content of a workflow. `version` counts its graphs from 1; the graph of a version never changes. */
export type WorkflowContent = Readonly<{
  workflowId: WorkflowId;
  ownerId: string;
  name: string;
  description: string;
  version: number;
  graph: StoredGraph;
  createdAt: string;
  updatedAt: string;
  /** The newest import of an agent that wrote the workflow. */
  importId?: string;
}>;

export type WorkflowCreated = Event<'WorkflowCreated', WorkflowContent>;
/** Holds the complete content, so no older event has to be read. `version` grows if the graph changes. */
export type WorkflowChanged = Event<
  'WorkflowChanged',
  WorkflowContent & {
    /** The change takes effect, for agents and for the owner, once an agent's stream records the import. */
    awaitsImport?: true;
  }
>;
/** The graphs are kept for turns that pinned them. */
export type WorkflowDeleted = Event<'WorkflowDeleted', { workflowId: WorkflowId; ownerId: string; deletedAt: string }>;

export type WorkflowEvent = WorkflowCreated | WorkflowChanged | WorkflowDeleted;

export const workflowStream = (workflowId: WorkflowId): string => `workflow-${workflowId}`;
