import { Injectable } from '@nestjs/common';
import type { Folded } from '../../../kernel/event-sourcing/streams.js';
import {
  type CallArguments,
  filledAction,
  isLeftOut,
  numberArgument,
  textArgument,
  unknownAction,
} from '../toolbox/call-arguments.policy.js';
import type { ActionDefinition } from '../toolbox/tool.events.js';
import { type CallContext, ToolFailed, ToolKind, type UsedTool } from '../toolbox/tool-kind.port.js';
import { notebookId } from './notebook.policy.js';
import { Notebooks, failuresAsToolText } from './notebooks.js';
import { ChangeTodoList, type TodoEdit } from './todo-list.commands.js';
import { type TodoList, todoAt, todoCreatedBy, todoList } from './todo-list.decider.js';
import { todoListStream } from './todo-list.events.js';
import { shownTodo, shownTodos } from './todo-list-view.policy.js';

const TODO_ID = { type: 'integer', description: 'The number of the todo, as todo_list shows it.' };
const TITLE = { type: 'string', description: 'What is to be done.' };

const ACTIONS: readonly ActionDefinition[] = [
  filledAction('todo_list', 'Shows the todos.', 'read', {
    status: { type: 'string', enum: ['open', 'completed'], description: 'Only those; without it, all.', optional: true },
  }),
  filledAction('todo_create', 'Adds a todo.', 'write', { title: TITLE }),
  filledAction('todo_get', 'Shows one todo.', 'read', { todo_id: TODO_ID }),
  filledAction('todo_update', 'Gives a todo another title.', 'write', { todo_id: TODO_ID, title: TITLE }),
  filledAction('todo_complete', 'Marks a todo as done.', 'write', { todo_id: TODO_ID }),
  filledAction('todo_delete', 'Deletes a todo.', 'write', { todo_id: TODO_ID }),
];

/** The result of a call. Users can read the list by its artifact id. */
export type TodoListResult = Readonly<{ artifact_id: string }> & Readonly<Record<string, unknown>>;

/** A to-do list that a model maintains for a user. */
@Injectable()
export class TodoListTool extends ToolKind {
  override readonly name = 'todo_list';
  override readonly displayName = 'Todo list';
  override readonly description = 'A list of things to do that the assistant keeps and the user can look at.';
  override readonly configFields = {};
  override readonly actions = ACTIONS;

  constructor(private readonly notebooks: Notebooks) {
    super();
  }

  run({ name }: ActionDefinition, args: CallArguments, _tool: UsedTool, context: CallContext): Promise<TodoListResult> {
    return failuresAsToolText(() => this.result(name, args, context));
  }

  private async result(
    name: string,
    args: CallArguments,
    { userId, agentId, turnId, callId, cause }: CallContext,
  ): Promise<TodoListResult> {
    const keeper = { ownerId: userId, agentId };
    const todoListId = notebookId('todoList', keeper);
    const artifact = { artifact_id: todoListId };
    const stream = todoListStream(todoListId);
    if (name === 'todo_list' || name === 'todo_get') {
      return { ...artifact, ...shownFor(name, args, await this.notebooks.read(stream, todoList)) };
    }
    const change = { ...keeper, todoListId, call: { turnId, callId } };
    const { edit, message } = editFor(name, args);
    const changed = (known: Folded<TodoList>) => new ChangeTodoList(change, edit, known, cause);
    const state = await this.notebooks.change(stream, todoList, changed);
    const todo = edit.type === 'create' ? todoCreatedBy(state, change.call) : state.todos.get(edit.todoId);
    return { ...artifact, message, ...(todo && { todo: shownTodo(todo) }) };
  }
}

function shownFor(name: 'todo_list' | 'todo_get', args: CallArguments, state: TodoList) {
  if (name === 'todo_get') return { todo: shownTodo(todoAt(state, numberArgument(args, 'todo_id'))) };
  const { status } = args;
  if (!isLeftOut(status) && status !== 'open' && status !== 'completed') {
    throw new ToolFailed('The argument `status` must be "open" or "completed", or be left out.');
  }
  return shownTodos(state, status ?? undefined);
}

function editFor(name: string, args: CallArguments): Readonly<{ edit: TodoEdit; message: string }> {
  if (name === 'todo_create') {
    return { edit: { type: 'create', title: textArgument(args, 'title') }, message: 'Added the todo.' };
  }
  const todoId = numberArgument(args, 'todo_id');
  switch (name) {
    case 'todo_update':
      return { edit: { type: 'retitle', todoId, title: textArgument(args, 'title') }, message: `Changed todo ${todoId}.` };
    case 'todo_complete':
      return { edit: { type: 'complete', todoId }, message: `Todo ${todoId} is done.` };
    case 'todo_delete':
      return { edit: { type: 'remove', todoId }, message: `Deleted todo ${todoId}.` };
    default:
      throw unknownAction(name);
  }
}
