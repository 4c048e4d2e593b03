import { beforeEach, describe, expect, it } from '@jest/globals';
import { commandsOver } from '../../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { callContext, callTool } from '../../../../test/support/tool-calls.js';
import { eventsOf } from '../../../../test/support/turns.js';
import { decodeCause } from '../../../kernel/event-sourcing/codec.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { ToolFailed } from '../toolbox/tool-kind.port.js';
import { ChangeMemoryHandler } from './memory.commands.js';
import { memoryStream } from './memory.events.js';
import { MemoryTool } from './memory-tool.js';
import { notebookId } from './notebook.policy.js';
import { NOTEBOOKS_KEPT_MAX, Notebooks } from './notebooks.js';
import { ChangeNotesHandler } from './notes.commands.js';
import { NotesTool } from './notes-tool.js';
import { ChangeTodoListHandler } from './todo-list.commands.js';
import { TodoListTool } from './todo-list-tool.js';
import { systemTiming } from '../../../platform/system-timing.js';

const clock = { now: () => new Date('2026-01-01T00:00:00.000Z') };

let store: InMemoryEventStore;
let memory: MemoryTool;
let notes: NotesTool;
let todos: TodoListTool;

const tools = () => {
  const streams = new Streams(store, systemTiming);
  const commands = commandsOver(
    new ChangeMemoryHandler(streams),
    new ChangeNotesHandler(streams, clock),
    new ChangeTodoListHandler(streams, clock),
  );
  const notebooks = new Notebooks(streams, commands);
  return { memory: new MemoryTool(notebooks), notes: new NotesTool(notebooks), todos: new TodoListTool(notebooks) };
};

beforeEach(() => {
  store = new InMemoryEventStore();
  ({ memory, notes, todos } = tools());
});

describe('a memory', () => {
  it('shows what was written, changed, moved and deleted', async () => {
    expect(await callTool(memory, 'memory_view', { path: '/' })).toBe('The memory is empty.');
    await callTool(memory, 'memory_create', { path: 'people/bob.md', file_text: 'Bob\nlikes tea\n' });
    await callTool(memory, 'memory_create', { path: '/plan.md', file_text: '' });
    await callTool(memory, 'memory_str_replace', { path: '/people/bob.md', old_str: 'tea', new_str: 'coffee' });
    await callTool(memory, 'memory_insert', { path: '/people/bob.md', insert_line: '1', insert_text: 'from Graz' });
    await callTool(memory, 'memory_rename', { old_path: '/people', new_path: '/friends' });
    expect(await callTool(memory, 'memory_view', { path: '/' })).toBe(
      'Files under /:\n/friends/bob.md (27 bytes)\n/plan.md (0 bytes)',
    );
    expect(await callTool(memory, 'memory_view', { path: '/friends/bob.md' })).toBe('1: Bob\n2: from Graz\n3: likes coffee');
    expect(await callTool(memory, 'memory_view', { path: '/friends/bob.md', view_range: [2, -1] })).toBe(
      '2: from Graz\n3: likes coffee',
    );
    expect(await callTool(memory, 'memory_view', { path: '/plan.md' })).toBe('/plan.md is empty.');
    expect(await callTool(memory, 'memory_view', { path: '/plan.md', view_range: [1, -1] })).toBe('/plan.md is empty.');
    await callTool(memory, 'memory_delete', { path: '/friends' });
    expect(await callTool(memory, 'memory_view', { path: '/' })).toBe('Files under /:\n/plan.md (0 bytes)');
  });

  it.each([
    ['memory_view', { path: '/none' }, /no \/none\. View \//],
    ['memory_view', { path: '../etc' }, /must not contain "\.\."/],
    ['memory_view', {}, /`path` must be given, as a string/],
    ['memory_view', { path: '/a', view_range: [3, 4] }, /\/a has 1 lines: `view_range`/],
    ['memory_view', { path: '/a', view_range: 'all' }, /`view_range` must be a pair/],
    ['memory_create', { path: '/b' }, /`file_text` must be given/],
    ['memory_insert', { path: '/a', insert_line: 'one', insert_text: '' }, /`insert_line` must be given, as a whole number/],
    ['memory_str_replace', { path: '/a', old_str: 'a', new_str: 'b' }, /more than once/],
  ])('gives the model the reason why %s %j fails', async (action, args, why) => {
    await callTool(memory, 'memory_create', { path: '/a', file_text: 'aa' });
    const failure = await callTool(memory, action, args).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ToolFailed);
    expect((failure as Error).message).toMatch(why);
  });

  it('is separate for each user and agent, with one for all chats without an agent', async () => {
    await callTool(memory, 'memory_create', { path: '/secret.md', file_text: 'x' });
    const seenBy = (more: object) => callTool(memory, 'memory_view', { path: '/' }, { context: callContext(more) });
    expect(await seenBy({ conversationId: 'another', turnId: 't9' })).toContain('/secret.md');
    expect(await seenBy({ agentId: 'a1' })).toBe('The memory is empty.');
    expect(await seenBy({ userId: 'bob' })).toBe('The memory is empty.');
  });

  it('records in the log who changed it and by which call', async () => {
    const context = callContext({
      callId: 'call-7',
      cause: { actor: 'user:alice', credential: 'system', correlationId: 'r7', causationId: 'e7' },
    });
    await callTool(memory, 'memory_create', { path: '/a', file_text: 'x' }, { context });
    const events = await eventsOf(store, memoryStream(notebookId('memory', { ownerId: 'alice', agentId: null })));
    expect(events.map(({ type }) => type)).toEqual(['MemoryStarted', 'MemoryFileWritten']);
    expect(decodeCause(events[1]!.metadata)).toMatchObject({ actor: 'user:alice', correlationId: 'r7', causationId: 'e7' });
    expect(JSON.parse(events[1]!.data)).toMatchObject({ call: { turnId: 't1', callId: 'call-7' } });
  });
});

it('a repeated call, in the same or another process, changes nothing and returns the same result', async () => {
  const twice = async (tool: 'memory' | 'notes' | 'todos', action: string, args: object) => {
    const context = callContext();
    const first = await callTool(tools()[tool], action, { ...args }, { context });
    const before = await store.head();
    expect(await callTool({ memory, notes, todos }[tool], action, { ...args }, { context })).toEqual(first);
    expect(await callTool(tools()[tool], action, { ...args }, { context })).toEqual(first);
    expect(await store.head()).toBe(before);
    return first;
  };
  await twice('memory', 'memory_create', { path: '/a', file_text: 'one' });
  await twice('memory', 'memory_insert', { path: '/a', insert_line: 0, insert_text: 'zero' });
  await twice('memory', 'memory_str_replace', { path: '/a', old_str: 'one', new_str: 'one one' });
  await twice('memory', 'memory_rename', { old_path: '/a', new_path: '/b' });
  await twice('memory', 'memory_delete', { path: '/b' });
  await twice('notes', 'note_overwrite', { text: 'a' });
  await twice('notes', 'note_insert', { insert_line: 1, text: 'b' });
  await twice('notes', 'note_delete', { first_line: 1 });
  expect(await callTool(notes, 'note_view', {})).toMatchObject({ content: '1: b' });
  await twice('todos', 'todo_create', { title: 'Buy tea' });
  expect(await twice('todos', 'todo_create', { title: 'Buy tea' })).toMatchObject({ todo: { todo_id: 2 } });
  await twice('todos', 'todo_delete', { todo_id: 1 });
  expect(await callTool(todos, 'todo_list', {})).toMatchObject({ total_count: 1 });
});

it('fifty concurrent calls in two processes make fifty changes to one memory', async () => {
  const both = [tools().memory, tools().memory];
  const calls = Array.from({ length: 50 }, (_, index) =>
    callTool(both[index % 2]!, 'memory_create', { path: `/file-${index}`, file_text: `${index}` }),
  );
  await Promise.all(calls);
  expect(String(await callTool(memory, 'memory_view', { path: '/' })).split('\n')).toHaveLength(1 + 50);
});

it('the cache of notebooks is limited in number and never older than the log', async () => {
  const view = (userId: string, tool = memory) =>
    callTool(tool, 'memory_view', { path: '/' }, { context: callContext({ userId }) });
  const write = (userId: string, tool = memory) =>
    callTool(tool, 'memory_create', { path: `/${userId}`, file_text: '' }, { context: callContext({ userId }) });
  for (let user = 0; user <= NOTEBOOKS_KEPT_MAX; user++) await write(`user-${user}`);
  const elsewhere = tools().memory;
  await write('user-1', elsewhere);
  await callTool(elsewhere, 'memory_create', { path: '/more', file_text: '' }, { context: callContext({ userId: 'user-32' }) });
  expect(await view('user-0')).toContain('/user-0');
  expect(await view('user-32')).toContain('/more');
});

describe('notes', () => {
  it('return their artifact id and their content', async () => {
    const artifactId = notebookId('notes', { ownerId: 'alice', agentId: null });
    expect(await callTool(notes, 'note_view', {})).toEqual({ artifact_id: artifactId, content: 'There is no note yet.' });
    await expect(callTool(notes, 'note_insert', { insert_line: 0, text: 'a' })).rejects.toThrow(/write one with note_overwrite/);
    expect(await callTool(notes, 'note_overwrite', { text: 'Tea at four.\n' })).toMatchObject({ artifact_id: artifactId });
    await callTool(notes, 'note_str_replace', { old_str: 'four', new_str: 'five' });
    await callTool(notes, 'note_insert', { insert_line: 1, text: 'Cake.' });
    expect(await callTool(notes, 'note_view', {})).toMatchObject({ content: '1: Tea at five.\n2: Cake.' });
    await callTool(notes, 'note_delete', { first_line: 1, last_line: 2 });
    for (const range of [undefined, [1, -1], [1, 10]]) {
      const seen = await callTool(notes, 'note_view', { view_range: range });
      expect(seen).toEqual({ artifact_id: artifactId, content: 'The note is empty.' });
    }
    await callTool(notes, 'note_delete', {});
    expect(await callTool(notes, 'note_view', {})).toMatchObject({ content: 'There is no note yet.' });
  });
});

describe('a todo list', () => {
  it('is used by the numbers of its todos', async () => {
    expect(await callTool(todos, 'todo_create', { title: 'Buy tea' })).toMatchObject({ todo: { todo_id: 1, status: 'open' } });
    await callTool(todos, 'todo_create', { title: 'Pour' });
    expect(await callTool(todos, 'todo_update', { todo_id: 2, title: 'Pour tea' })).toMatchObject({
      todo: { title: 'Pour tea' },
    });
    expect(await callTool(todos, 'todo_complete', { todo_id: '1' })).toMatchObject({ todo: { status: 'completed' } });
    expect(await callTool(todos, 'todo_list', { status: 'open' })).toMatchObject({ items: [{ todo_id: 2 }], total_count: 2 });
    expect(await callTool(todos, 'todo_get', { todo_id: 1 })).toMatchObject({ todo: { title: 'Buy tea' } });
    expect(await callTool(todos, 'todo_delete', { todo_id: 1 })).not.toHaveProperty('todo');
    await expect(callTool(todos, 'todo_get', { todo_id: 1 })).rejects.toThrow(/no todo 1/);
    await expect(callTool(todos, 'todo_list', { status: 'late' })).rejects.toThrow(/"open" or "completed"/);
  });
});
