import { Module } from '@nestjs/common';
import { ArtifactsController } from './artifacts.http.js';
import { Notebooks } from './notebooks.js';
import { ChangeMemoryHandler } from './memory.commands.js';
import { MemoryTool } from './memory-tool.js';
import { ChangeNotesHandler } from './notes.commands.js';
import { NotesTool } from './notes-tool.js';
import { ChangeTodoListHandler } from './todo-list.commands.js';
import { TodoListTool } from './todo-list-tool.js';

const TOOL_KINDS = [MemoryTool, NotesTool, TodoListTool];

/** Tools for memories, notes and to-do lists, and the route that reads their artifacts. */
@Module({
  controllers: [ArtifactsController],
  providers: [...TOOL_KINDS, Notebooks, ChangeMemoryHandler, ChangeNotesHandler, ChangeTodoListHandler],
  exports: [...TOOL_KINDS],
})
export class NotebooksModule {
  static readonly toolKinds = TOOL_KINDS;
}
