import type { Todo, TodoList } from './todo-list.decider.js';

/** A todo in the format of the API. */
export const shownTodo = ({ todoId, title, status, createdAt, updatedAt }: Todo) => ({
  todo_id: todoId,
  title,
  status,
  created_at: createdAt,
  updated_at: updatedAt,
});

/** The todos of a list in the order of their creation, filtered by status. The counts are those of the whole list. */
export function shownTodos({ todos }: TodoList, status?: Todo['status']) {
  const all = [...todos.values()];
  const open = all.filter((todo) => todo.status === 'open').length;
  return {
    items: all.filter((todo) => status === undefined || todo.status === status).map(shownTodo),
    total_count: all.length,
    open_count: open,
    completed_count: all.length - open,
  };
}
