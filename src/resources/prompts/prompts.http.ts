import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { IsISO8601, IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { type ResourceAction, inBody, inQuery } from '../../kernel/access.js';
import { Commands } from '../../kernel/commands.js';
import { type PromptRecord, PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import type { SignedInUser } from '../identity/caller.js';
import { visible } from '../identity/access.policy.js';
import { ownershipOf } from '../identity/grants.policy.js';
import { Reaching } from '../identity/reaching.js';
import { CurrentUser } from '../identity/identity.http.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { CreatePrompt, DeletePrompt, UpdatePrompt } from './prompt.commands.js';
import { compose, presetOf, PRESETS } from './presets.policy.js';
import { promptNotFound } from './prompt.decider.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

const PROMPT_NAME_CHARACTERS_MAX = 200;
const PROMPT_CONTENT_CHARACTERS_MAX = 100_000;

export class PromptText {
  @IsString() @Matches(/\S/, { message: 'name must not be blank' }) @MaxLength(PROMPT_NAME_CHARACTERS_MAX) name!: string;
  @IsString() @IsNotEmpty() @MaxLength(PROMPT_CONTENT_CHARACTERS_MAX) content!: string;
}

export class PromptId {
  @IsString() @IsNotEmpty() id!: string;
}

export class PromptEdit extends PromptText {
  @IsString() @IsNotEmpty() id!: string;
  @IsOptional() @IsISO8601() expected_updated_at?: string;
}

/** Lists, reads, creates, changes and deletes prompts. The presets belong to all users. */
@ApiTags('Prompts')
@Controller('api')
export class PromptsController {
  constructor(
    private readonly commands: Commands,
    private readonly prompts: PromptQueries,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'Lists the presets, the user’s own prompts, and those of teams' })
  @Access({ for: 'user', action: 'list', of: 'prompts', scopes: ['prompts:read'] })
  @Get('get_prompts')
  async list(@CurrentUser() user: SignedInUser) {
    const [own, held] = await Promise.all([this.prompts.ownedBy(user.userId), this.reaching.held(user.userId, 'prompts')]);
    const prompts = visible(user, 'prompts', [...own, ...(await this.prompts.among([...held.keys()]))]);
    return [
      ...PRESETS.map((name) => ({ id: name, name, type: 'public' })),
      ...prompts.map(({ id, name, updatedAt }) => ({
        ...{ id, name, type: 'private', updated_at: updatedAt.toISOString() },
        ...ownershipOf(held.get(id)),
      })),
    ];
  }

  @ApiOperation({ summary: 'Returns the text of a prompt' })
  @Access({ for: 'user', action: 'read', of: 'prompts', scopes: ['prompts:read'], at: inQuery('id'), granted: 'view' })
  @Get('get_single_prompt')
  async one(@CurrentUser() user: SignedInUser, @Query('id') id?: string) {
    if (!id) throw new Rejection('invalid-request', 'ID is required');
    const preset = presetOf(id);
    if (preset) return { content: compose(preset) };
    const prompt = await this.reached(user, id, 'view');
    return { content: prompt.content, name: prompt.name, updated_at: prompt.updatedAt.toISOString() };
  }

  @ApiOperation({ summary: 'Creates a prompt' })
  @DocumentedBody({ type: PromptText }, { name: 'Pirate', content: 'Answer like a pirate.' })
  @Access({ for: 'user', action: 'create', of: 'prompts', scopes: ['prompts:write'] })
  @Post('create_prompt')
  @HttpCode(200)
  async create(@CurrentUser() user: SignedInUser, @Confirms('prompts') confirm: Confirm, @Body() prompt: PromptText) {
    const { promptId, position } = await this.commands.execute(new CreatePrompt(user.userId, prompt, user.cause));
    await confirm(position);
    return { id: promptId };
  }

  @ApiOperation({ summary: 'Changes a prompt; refused if it was changed since `expected_updated_at`' })
  @DocumentedBody({ type: PromptEdit }, { id: '00000000-0000-4000-8000-000000000000', name: 'Pirate', content: 'Ahoy.' })
  @Access({ for: 'user', action: 'change', of: 'prompts', scopes: ['prompts:write'], at: inBody('id'), granted: 'edit' })
  @Post('update_prompt')
  @HttpCode(200)
  async update(@CurrentUser() user: SignedInUser, @Confirms('prompts') confirm: Confirm, @Body() edit: PromptEdit) {
    const { ownerId } = await this.reached(user, edit.id, 'edit');
    const { id, name, content, expected_updated_at: expected } = edit;
    const change = { name, content, expectedUpdatedAt: expected === undefined ? undefined : new Date(expected) };
    await confirm(await this.commands.execute(new UpdatePrompt(id, ownerId, change, user.cause)));
    return { success: true };
  }

  @ApiOperation({ summary: 'Deletes a prompt' })
  @DocumentedBody({ type: PromptId }, { id: '00000000-0000-4000-8000-000000000000' })
  @Access({ for: 'user', action: 'delete', of: 'prompts', scopes: ['prompts:write'], at: inBody('id') })
  @Post('delete_prompt')
  @HttpCode(200)
  async delete(@CurrentUser() user: SignedInUser, @Confirms('prompts') confirm: Confirm, @Body() { id }: PromptId) {
    await this.reached(user, id);
    await confirm(await this.commands.execute(new DeletePrompt(id, user.userId, user.cause)));
    return { success: true };
  }

  /** The prompt, if the user owns it or has a grant for the action `needs`. Undefined: only the owner may. @throws Rejection */
  private async reached(user: SignedInUser, id: string, needs?: ResourceAction): Promise<PromptRecord> {
    const prompt = isId(id) ? await this.prompts.byId(id) : undefined;
    return this.reaching.reached(user, prompt, 'prompts', needs, promptNotFound);
  }
}
