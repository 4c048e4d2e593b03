import type { Codec } from '../../../kernel/event-sourcing/codec.js';
import type { TodoListEvent } from './todo-list.events.js';

export const todoListCodec: Codec<TodoListEvent> = {
  TodoListStarted: [],
  TodoCreated: [],
  TodoRetitled: [],
  TodoCompleted: [],
  TodoDeleted: [],
};
