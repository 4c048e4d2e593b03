import type { Event } from '../../../kernel/event-sourcing/events.js';
import type { Call } from './notebook.policy.js';

export type TodoListId = string;

/** Counted from 1 within a list, and never reused. */
export type TodoId = number;

type Change<More = unknown> = { todoListId: TodoListId; todoId: TodoId; call: Call; at: string } & More;

export type TodoListStarted = Event<'TodoListStarted', { todoListId: TodoListId; ownerId: string; agentId: string | null }>;
export type TodoCreated = Event<'TodoCreated', Change<{ title: string }>>;
export type TodoRetitled = Event<'TodoRetitled', Change<{ title: string }>>;
export type TodoCompleted = Event<'TodoCompleted', Change>;
export type TodoDeleted = Event<'TodoDeleted', Change>;

export type TodoListEvent = TodoListStarted | TodoCreated | TodoRetitled | TodoCompleted | TodoDeleted;

export const todoListStream = (id: TodoListId): string => `todoList-${id}`;
