import { CommandHandler } from '@nestjs/cqrs';
import { Clock } from '../../../kernel/clock.js';
import { Command, type Handler } from '../../../kernel/commands.js';
import type { Decision } from '../../../kernel/event-sourcing/decider.js';
import type { Cause } from '../../../kernel/event-sourcing/events.js';
import { type Folded, Streams } from '../../../kernel/event-sourcing/streams.js';
import { complete, create, remove, retitle, type TodoChange, type TodoList, todoList } from './todo-list.decider.js';
import { type TodoId, type TodoListEvent, todoListStream } from './todo-list.events.js';

/** A change of a to-do list. */
export type TodoEdit =
  | Readonly<{ type: 'create'; title: string }>
  | Readonly<{ type: 'retitle'; todoId: TodoId; title: string }>
  | Readonly<{ type: 'complete' | 'remove'; todoId: TodoId }>;

/** A tool call changes a to-do list. Returns the list after the change. */
export class ChangeTodoList extends Command<Folded<TodoList>> {
  constructor(
    readonly change: Omit<TodoChange, 'now'>,
    readonly edit: TodoEdit,
    readonly known: Folded<TodoList>,
    readonly cause: Cause,
  ) {
    super();
  }
}

@CommandHandler(ChangeTodoList)
export class ChangeTodoListHandler implements Handler<ChangeTodoList> {
  constructor(
    private readonly streams: Streams,
    private readonly clock: Clock,
  ) {}

  execute({ change, edit, known, cause }: ChangeTodoList): Promise<Folded<TodoList>> {
    const decision = decisionOn({ ...change, now: this.clock.now() }, edit);
    return this.streams.transact(todoListStream(change.todoListId), todoList, decision, cause, known);
  }
}

function decisionOn(change: TodoChange, edit: TodoEdit): Decision<TodoList, TodoListEvent> {
  switch (edit.type) {
    case 'create':
      return create(change, edit.title);
    case 'retitle':
      return retitle(change, edit.todoId, edit.title);
    case 'complete':
      return complete(change, edit.todoId);
    case 'remove':
      return remove(change, edit.todoId);
  }
}
