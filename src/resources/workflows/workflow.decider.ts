import type { Decision } from '../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../kernel/event-sourcing/streams.js';
import { Rejection } from '../../kernel/rejection.js';
import { sameJson } from '../../kernel/same-json.js';
import { workflowCodec } from './workflow.codec.js';
import type { StoredGraph, WorkflowChanged, WorkflowEvent } from './workflow.events.js';

/** The state of a workflow. */
export type Workflow = Readonly<
  { status: 'none' } | { status: 'there'; content: WorkflowChanged['data'] } | { status: 'deleted'; ownerId: string }
>;

const initial: Workflow = { status: 'none' };

/** The state is in the newest events: a WorkflowChanged holds everything, and only a WorkflowDeleted can follow it. */
const NEWEST_EVENTS = 2;

export const workflow: Aggregate<Workflow, WorkflowEvent> = {
  initial,
  evolve,
  codec: workflowCodec,
  snapshot: { type: 'WorkflowChanged', withinMax: NEWEST_EVENTS },
};

function evolve(_: Workflow, event: WorkflowEvent): Workflow {
  switch (event.type) {
    case 'WorkflowCreated':
    case 'WorkflowChanged':
      return { status: 'there', content: event.data };
    case 'WorkflowDeleted':
      return { status: 'deleted', ownerId: event.data.ownerId };
  }
}

type Decide = Decision<Workflow, WorkflowEvent>;

const TEXT = 'Workflow not found';

/**
 * The same error whether the workflow does not exist or is not accessible, so that callers cannot probe for ids. Clients of
 * workflows read `error`.
 */
export const workflowNotFound = () => new Rejection('workflow-not-found', TEXT, { error: TEXT });

type Wanted = Readonly<{ name: string; description: string; graph: StoredGraph }>;

/** Creates a workflow with its first graph. Nothing happens if the id was used before. */
export const create =
  (workflowId: string, ownerId: string, { name, description, graph }: Wanted, now: Date): Decide =>
  (state) => {
    if (state.status !== 'none') return [];
    const at = now.toISOString();
    const content = { workflowId, ownerId, name, description, version: 1, graph, createdAt: at, updatedAt: at };
    return [{ type: 'WorkflowCreated', data: content }];
  };

/** Changes the given fields. A different graph becomes a new version. */
export const change =
  (ownerId: string, wanted: Partial<Wanted>, now: Date): Decide =>
  (state) => {
    const { awaitsImport: _, ...current } = ownedBy(state, ownerId);
    const { name = current.name, description = current.description } = wanted;
    const isOtherGraph = wanted.graph !== undefined && !sameJson(wanted.graph, current.graph);
    const graph = isOtherGraph ? { graph: wanted.graph, version: current.version + 1 } : {};
    if (!isOtherGraph && name === current.name && description === current.description) return [];
    const updatedAt = new Date(Math.max(now.getTime(), Date.parse(current.updatedAt) + 1)).toISOString();
    return [{ type: 'WorkflowChanged', data: { ...current, name, description, ...graph, updatedAt } }];
  };

/**
 * Applies an import of an agent: creates the workflow, or changes it in a way that takes effect with the agent's own event. An
 * import is applied once, so it does not overwrite later changes of the owner.
 */
export const takeIn =
  (workflowId: string, ownerId: string, importId: string, wanted: Wanted, now: Date): Decide =>
  (state) => {
    if (state.status === 'none')
      return create(workflowId, ownerId, wanted, now)(state).map((event) => withImport(event, { importId }));
    if (ownedBy(state, ownerId).importId === importId) return [];
    return change(ownerId, wanted, now)(state).map((event) => withImport(event, { importId, awaitsImport: true }));
  };

const withImport = (event: WorkflowEvent, more: Readonly<{ importId: string; awaitsImport?: true }>): WorkflowEvent =>
  ({ ...event, data: { ...event.data, ...more } }) as WorkflowEvent;

export const remove =
  (ownerId: string, now: Date): Decide =>
  (state) => {
    if (state.status === 'deleted' && state.ownerId === ownerId) return [];
    const { workflowId } = ownedBy(state, ownerId);
    return [{ type: 'WorkflowDeleted', data: { workflowId, ownerId, deletedAt: now.toISOString() } }];
  };

function ownedBy(state: Workflow, ownerId: string): WorkflowChanged['data'] {
  if (state.status !== 'there' || state.content.ownerId !== ownerId) throw workflowNotFound();
  return state.content;
}
