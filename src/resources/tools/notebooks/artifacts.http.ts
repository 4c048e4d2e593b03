import { Controller, Get, Param } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SignedInUser } from '../../identity/caller.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Notebooks } from './notebooks.js';
import { notes } from './notes.decider.js';
import { notesStream } from './notes.events.js';
import { todoList } from './todo-list.decider.js';
import { todoListStream } from './todo-list.events.js';
import { shownTodos } from './todo-list-view.policy.js';

/** What models have written for a user, shown to that user only. */
@ApiTags('Tools')
@Controller('api')
export class ArtifactsController {
  constructor(private readonly notebooks: Notebooks) {}

  @Get('artifact/:id')
  async one(@CurrentUser() { userId }: SignedInUser, @Param('id') id: string) {
    const artifact = isId(id) ? ((await this.note(userId, id)) ?? (await this.todos(userId, id))) : undefined;
    if (!artifact) throw new Rejection('artifact-not-found', 'Artifact not found');
    return { success: true, artifact };
  }

  private async note(userId: string, id: string) {
    const { ownerId, content, updatedAt } = await this.notebooks.read(notesStream(id), notes);
    if (ownerId !== userId || content === null) return undefined;
    const lines = content === '' ? 0 : content.replace(/\n$/, '').split('\n').length;
    return { artifact_type: 'note', data: { content, line_count: lines, updated_at: updatedAt } };
  }

  private async todos(userId: string, id: string) {
    const state = await this.notebooks.read(todoListStream(id), todoList);
    return state.ownerId === userId ? { artifact_type: 'todo_list', data: shownTodos(state) } : undefined;
  }
}
