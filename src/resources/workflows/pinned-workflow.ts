import type { StoredGraph } from './workflow.events.js';

/**
 * The graph that a turn runs: a version of a workflow, or a graph that came with the question, as the editor sends one that is
 * not saved. The id of such a graph names the workflow that is being edited, if there is one.
 */
export type PinnedWorkflow = Readonly<{ id: string; version: number }> | Readonly<{ id: string | null; draft: StoredGraph }>;
