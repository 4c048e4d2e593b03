import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Aggregate } from '../../../kernel/event-sourcing/streams.js';
import { type Call, type Keeper, type NotebookState, once, refused, withCall } from './notebook.policy.js';
import { todoListCodec } from './todo-list.codec.js';
import type { TodoId, TodoListEvent } from './todo-list.events.js';

export const TODOS_MAX = 500;
export const TODO_TITLE_CHARACTERS_MAX = 2000;

export type Todo = Readonly<{
  todoId: TodoId;
  title: string;
  status: 'open' | 'completed';
  createdAt: string;
  updatedAt: string;
  /** The call that created it, by which a repeated call returns the same result. */
  createdBy: Call;
}>;

export type TodoList = NotebookState & Readonly<{ lastId: TodoId; todos: ReadonlyMap<TodoId, Todo> }>;

const initial: TodoList = { ownerId: null, calls: [], lastId: 0, todos: new Map() };

export const todoList: Aggregate<TodoList, TodoListEvent> = { initial, evolve, codec: todoListCodec };

function evolve(state: TodoList, event: TodoListEvent): TodoList {
  if (event.type === 'TodoListStarted') return { ...state, ownerId: event.data.ownerId };
  const { todoId, call } = event.data;
  const lastId = Math.max(state.lastId, todoId);
  return { ...state, lastId, todos: todosAfter(state.todos, event), calls: withCall(state.calls, call) };
}

function todosAfter(todos: TodoList['todos'], event: Exclude<TodoListEvent, { type: 'TodoListStarted' }>): TodoList['todos'] {
  const { todoId, at, call } = event.data;
  const known = todos.get(todoId);
  const changed = (changes: Partial<Todo>) =>
    known ? new Map(todos).set(todoId, { ...known, ...changes, updatedAt: at }) : todos;
  switch (event.type) {
    case 'TodoCreated': {
      const { title } = event.data;
      return new Map(todos).set(todoId, { todoId, title, status: 'open', createdAt: at, updatedAt: at, createdBy: call });
    }
    case 'TodoRetitled':
      return changed({ title: event.data.title });
    case 'TodoCompleted':
      return changed({ status: 'completed' });
    case 'TodoDeleted':
      return new Map([...todos].filter(([id]) => id !== todoId));
  }
}

type Decide = Decision<TodoList, TodoListEvent>;

/** The list, its owner and agent, the call that changes it, and the time. */
export type TodoChange = Keeper & Readonly<{ todoListId: string; call: Call; now: Date }>;

export const create = (change: TodoChange, title: string): Decide =>
  changing(change, ({ todos, lastId }) => {
    if (todos.size >= TODOS_MAX) throw refused(`The list holds ${TODOS_MAX} todos at most: delete some first.`);
    return [{ type: 'TodoCreated', data: { ...about(change, lastId + 1), title: titleOf(title) } }];
  });

export const retitle = (change: TodoChange, todoId: TodoId, title: string): Decide =>
  changing(change, (state) => {
    if (todoAt(state, todoId).title === titleOf(title)) return [];
    return [{ type: 'TodoRetitled', data: { ...about(change, todoId), title: titleOf(title) } }];
  });

export const complete = (change: TodoChange, todoId: TodoId): Decide =>
  changing(change, (state) =>
    todoAt(state, todoId).status === 'completed' ? [] : [{ type: 'TodoCompleted', data: about(change, todoId) }],
  );

export const remove = (change: TodoChange, todoId: TodoId): Decide =>
  changing(change, (state) => [{ type: 'TodoDeleted', data: about(change, todoAt(state, todoId).todoId) }]);

/** @throws Rejection tool-call-refused if the list has no such todo */
export function todoAt({ todos }: TodoList, todoId: TodoId): Todo {
  const todo = todos.get(todoId);
  if (!todo) throw refused(`There is no todo ${todoId}. Call todo_list to see which there are.`);
  return todo;
}

export const todoCreatedBy = ({ todos }: TodoList, { turnId, callId }: Call): Todo | undefined =>
  [...todos.values()].find(({ createdBy }) => createdBy.turnId === turnId && createdBy.callId === callId);

const about = ({ todoListId, call, now }: TodoChange, todoId: TodoId) => ({ todoListId, todoId, call, at: now.toISOString() });

function changing(change: TodoChange, decide: Decide): Decide {
  const { todoListId, ownerId, agentId, call } = change;
  return once(call, { type: 'TodoListStarted', data: { todoListId, ownerId, agentId } }, decide);
}

function titleOf(given: string): string {
  const title = given.trim();
  if (title === '') throw refused('`title` is empty: say what is to be done.');
  const { length } = [...title];
  if (length > TODO_TITLE_CHARACTERS_MAX) {
    throw refused(`A title has ${TODO_TITLE_CHARACTERS_MAX} characters at most; this one has ${length}.`);
  }
  return title;
}
