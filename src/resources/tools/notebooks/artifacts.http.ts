import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { SignedInUser } from '../../identity/caller.js';
import { may } from '../../identity/access.policy.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Notebooks } from './notebooks.js';
import { notes } from './notes.decider.js';
import { notesStream } from './notes.events.js';
import { todoList } from './todo-list.decider.js';
import { todoListStream } from './todo-list.events.js';
import { shownTodos } from './todo-list-view.policy.js';
import { Access } from '../../../platform/http/access.js';

/** The notes and to-do lists that models have written for a user. Only that user can read them. */
@ApiTags('Tools')
@Controller('api')
export class ArtifactsController {
  constructor(private readonly notebooks: Notebooks) {}

  @ApiOperation({ summary: 'A note or a to-do list of a tool' })
  @Access({ for: 'user', action: 'read', of: 'artifacts' })
  @Get('artifact/:id')
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    const artifact = isId(id) ? ((await this.note(user, id)) ?? (await this.todos(user, id))) : undefined;
    if (!artifact) throw new Rejection('artifact-not-found', 'Artifact not found');
    return { success: true, artifact };
  }

  private async note(user: SignedInUser, id: string) {
    const { ownerId, content, updatedAt } = await this.notebooks.read(notesStream(id), notes);
    if (content === null || !isReached(user, id, ownerId)) return undefined;
    const lines = content === '' ? 0 : content.replace(/\n$/, '').split('\n').length;
    return { artifact_type: 'note', data: { content, line_count: lines, updated_at: updatedAt } };
  }

  private async todos(user: SignedInUser, id: string) {
    const state = await this.notebooks.read(todoListStream(id), todoList);
    return isReached(user, id, state.ownerId) ? { artifact_type: 'todo_list', data: shownTodos(state) } : undefined;
  }
}

const isReached = (user: SignedInUser, id: string, ownerId: string | null): boolean =>
  may(user, { does: 'reach', thing: ownerId === null ? undefined : { id, ownerId } });
