import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { given } from '../../../../test/support/given.js';
import {
  complete,
  create,
  remove,
  retitle,
  TODO_TITLE_CHARACTERS_MAX,
  type TodoChange,
  type TodoList,
  todoList,
  TODOS_MAX,
} from './todo-list.decider.js';
import type { TodoListEvent } from './todo-list.events.js';
import { shownTodos } from './todo-list-view.policy.js';

const now = new Date('2026-01-01T00:00:00.000Z');
const at = now.toISOString();
const by = (callId: string): TodoChange => ({
  todoListId: 'l1',
  ownerId: 'alice',
  agentId: null,
  call: { turnId: 't1', callId },
  now,
});
const about = (todoId: number, callId: string) => ({ todoListId: 'l1', todoId, call: { turnId: 't1', callId }, at });
const started: TodoListEvent = { type: 'TodoListStarted', data: { todoListId: 'l1', ownerId: 'alice', agentId: null } };
const created = (todoId: number, title = 'Buy tea'): TodoListEvent => ({
  type: 'TodoCreated',
  data: { ...about(todoId, `made ${todoId}`), title },
});
const deleted = (todoId: number): TodoListEvent => ({ type: 'TodoDeleted', data: about(todoId, `deleted ${todoId}`) });
const completed = (todoId: number): TodoListEvent => ({ type: 'TodoCompleted', data: about(todoId, `completed ${todoId}`) });
const after = (events: readonly TodoListEvent[]) => events.reduce<TodoList>(todoList.evolve, todoList.initial);

describe('a todo list', () => {
  it('starts with its first todo', () =>
    given(todoList, [])
      .when(create(by('c'), ' Buy tea '))
      .then([started, { type: 'TodoCreated', data: { ...about(1, 'c'), title: 'Buy tea' } }]));
  it('never reuses a number', () =>
    given(todoList, [started, created(1), created(2), deleted(2)])
      .when(create(by('c'), 'Pour'))
      .then([{ type: 'TodoCreated', data: { ...about(3, 'c'), title: 'Pour' } }]));
  it('changes only the todo with the given number', () => {
    const state = after([
      started,
      created(1),
      created(2),
      ...retitle(by('c'), 2, 'Pour')(after([started, created(1), created(2)])),
    ]);
    expect([...state.todos.values()].map(({ title }) => title)).toEqual(['Buy tea', 'Pour']);
  });
  it('records nothing if nothing changes', () => {
    given(todoList, [started, created(1)])
      .when(retitle(by('c'), 1, 'Buy tea'))
      .thenNothing();
    given(todoList, [started, created(1), completed(1)])
      .when(complete(by('c'), 1))
      .thenNothing();
  });
  it.each([
    ['changed', retitle(by('c'), 2, 'x')],
    ['completed', complete(by('c'), 2)],
    ['deleted', remove(by('c'), 2)],
  ])('refuses a missing todo that should be %s', (_, decide) =>
    expect(() => decide(after([started, created(1)]))).toThrow(/no todo 2\. Call todo_list/),
  );
  it('has a maximum number of todos', () => {
    const todos = Array.from({ length: TODOS_MAX }, (_, index) => created(index + 1));
    expect(() => create(by('c'), 'x')(after([started, ...todos]))).toThrow(/500 todos at most/);
    expect(create(by('c'), 'x')(after([started, ...todos, deleted(7)]))).toHaveLength(1);
  });
  it('has titles with a maximum length and at least one character', () => {
    const most = '💡'.repeat(TODO_TITLE_CHARACTERS_MAX);
    expect(create(by('c'), most)(after([started]))).toHaveLength(1);
    expect(() => create(by('c'), `${most}.`)(after([started]))).toThrow(/2000 characters at most/);
    expect(() => retitle(by('c'), 1, `${most}.`)(after([started, created(1)]))).toThrow(/2000 characters at most/);
    expect(() => create(by('c'), ' ')(after([started]))).toThrow(/`title` is empty/);
  });
  it('ignores a repeated call', () => {
    given(todoList, [started, created(1), completed(1)])
      .when(create(by('made 1'), 'Buy tea'))
      .thenNothing();
    given(todoList, [started, created(1), deleted(1)])
      .when(remove(by('deleted 1'), 1))
      .thenNothing();
  });
  it('counts all todos even if only a part is shown', () => {
    const shown = shownTodos(after([started, created(1), created(2), created(3), completed(2)]), 'completed');
    expect(shown).toEqual({
      items: [{ todo_id: 2, title: 'Buy tea', status: 'completed', created_at: at, updated_at: at }],
      total_count: 3,
      open_count: 2,
      completed_count: 1,
    });
  });
});

it('a repeated change appends nothing, and numbers only grow', () => {
  const todoId = fc.integer({ min: 0, max: 5 });
  const decision = fc.oneof(
    fc.constantFrom('a', 'b', '').map((title) => (change: TodoChange) => create(change, title)),
    todoId.map((id) => (change: TodoChange) => retitle(change, id, 'c')),
    todoId.map((id) => (change: TodoChange) => complete(change, id)),
    todoId.map((id) => (change: TodoChange) => remove(change, id)),
  );
  fc.assert(
    fc.property(fc.array(decision, { maxLength: 20 }), (decisions) => {
      let state = todoList.initial;
      decisions.forEach((decide, index) => {
        const decided = decide(by(`c${index}`));
        const before = state.lastId;
        try {
          state = decided(state).reduce<TodoList>(todoList.evolve, state);
        } catch (error) {
          expect(error).toMatchObject({ code: 'tool-call-refused' });
          return;
        }
        expect(state.lastId).toBeGreaterThanOrEqual(before);
        expect(decided(state)).toEqual([]);
      });
    }),
    { numRuns: 300 },
  );
});
