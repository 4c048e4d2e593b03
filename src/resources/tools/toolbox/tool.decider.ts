import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import { Rejection } from '../../../kernel/rejection.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { toolCodec } from './tool.codec.js';
import type { ToolDefinition, ToolEvent, ToolId } from './tool.events.js';

/** The state of a tool from its stream. Its definition remains after it was deleted. */
export type Tool = Readonly<{
  id: ToolId;
  status: 'none' | 'there' | 'deleted';
  ownerId: string;
  definition: ToolDefinition | null;
}>;

const initial: Tool = { id: '', status: 'none', ownerId: '', definition: null };

export const tool: Aggregate<Tool, ToolEvent> = { initial, evolve, codec: toolCodec };

function evolve(state: Tool, event: ToolEvent): Tool {
  switch (event.type) {
    case 'ToolCreated': {
      const { toolId, ownerId, definition } = event.data;
      return { id: toolId, status: 'there', ownerId, definition };
    }
    case 'ToolChanged':
      return { ...state, definition: state.definition && { ...state.definition, ...event.data.changes } };
    case 'ToolDeleted':
      return { ...state, status: 'deleted' };
  }
}

type Decide = Decision<Tool, ToolEvent>;

/** The same answer whether the tool does not exist or belongs to another user. */
export const toolNotFound = () => new Rejection('tool-not-found', 'Tool not found');

/** The definition of a user's own tool. @throws Rejection tool-not-found */
export function definitionFor(state: Tool, ownerId: string): ToolDefinition {
  if (state.status !== 'there' || state.ownerId !== ownerId || !state.definition) throw toolNotFound();
  return state.definition;
}

export const create =
  (toolId: ToolId, ownerId: string, definition: ToolDefinition, importId?: string): Decide =>
  (state) =>
    state.status === 'none'
      ? [{ type: 'ToolCreated', data: { toolId, ownerId, definition, ...(importId !== undefined && { importId }) } }]
      : [];

/** The kind of a tool cannot change. */
export type ToolChanges = Partial<Omit<ToolDefinition, 'name'>>;

/** These fields depend on each other, so a caller that changes one must have seen the current values of all. */
const SET_UP = ['config', 'credentialsId', 'actions'] as const satisfies readonly (keyof ToolDefinition)[];

/**
 * Changes the fields whose wanted value differs from the seen value. Concurrent changes to other fields are kept. @throws
 * Rejection tool-not-found, tool-changed-meanwhile
 */
export const change =
  (ownerId: string, seen: ToolDefinition, wanted: ToolChanges): Decide =>
  (state) => {
    const current = definitionFor(state, ownerId);
    const changes = differing(current, differing(seen, wanted));
    if (Object.keys(changes).length === 0) return [];
    if (SET_UP.some((field) => field in changes) && SET_UP.some((field) => !same(current[field], seen[field]))) {
      throw new Rejection('tool-changed-meanwhile', 'Somebody else changed this tool at the same time. Please try again.');
    }
    return [{ type: 'ToolChanged', data: { toolId: state.id, changes } }];
  };

/** The fields whose value would change. */
function differing(current: ToolDefinition, wanted: ToolChanges): ToolChanges {
  const before: Readonly<Record<string, unknown>> = current;
  return Object.fromEntries(Object.entries(wanted).filter(([field, value]) => !same(before[field], value)));
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const remove =
  (ownerId: string): Decide =>
  (state) => {
    if (state.status === 'none' || state.ownerId !== ownerId) throw toolNotFound();
    return state.status === 'deleted' ? [] : [{ type: 'ToolDeleted', data: { toolId: state.id } }];
  };
