import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsOptional, IsString, Matches, MaxLength } from 'class-validator';
import { type AgentFolderRecord, AgentFolderQueries } from '../../../../projections/agents/agent-folders.queries.js';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { Commands } from '../../../kernel/commands.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody } from '../../../platform/http/documented.js';
import { reached, requireAccess, visible } from '../../identity/access.policy.js';
import type { SignedInUser } from '../../identity/caller.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { UpdateAgent } from '../agent.commands.js';
import { agentNotFound } from '../agent.decider.js';
import { ChangeAgentFolder, CreateAgentFolder, DeleteAgentFolder } from './agent-folders.commands.js';
import { folderNotFound } from './agent-folders.decider.js';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';
import { inBody } from '../../../kernel/access.js';

const NAME_CHARACTERS_MAX = 200;
const AGENTS_MAX = 1_000;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

const NAME = { message: 'Folder name is required' };

class NewFolder {
  @Matches(/\S/, NAME) @IsString() @MaxLength(NAME_CHARACTERS_MAX) name!: string;
  @IsOptional() @IsString() parent_id?: string | null;
}

class FolderChange {
  @IsOptional() @Matches(/\S/, NAME) @IsString() @MaxLength(NAME_CHARACTERS_MAX) name?: string;
  @IsOptional() @IsString() parent_id?: string | null;
}

class MovedAgent {
  @IsString() agent_id!: string;
  @IsOptional() @IsString() folder_id?: string | null;
}

class MovedAgents {
  @ApiProperty({ minItems: 1 }) @IsArray() @ArrayMaxSize(AGENTS_MAX) @IsString({ each: true }) agent_ids!: string[];
  @IsOptional() @IsString() folder_id?: string | null;
}

/** The folders into which users sort their agents. */
@ApiTags('Agents')
@Controller('api/agents/folders')
export class AgentFoldersController {
  constructor(
    private readonly commands: Commands,
    private readonly folders: AgentFolderQueries,
    private readonly agents: AgentQueries,
  ) {}

  @ApiOperation({ summary: 'Lists all folders of the caller, sorted by name' })
  @Access({ for: 'user', action: 'list', of: 'folders', scopes: ['agents:read'] })
  @Get()
  async list(@CurrentUser() { userId }: SignedInUser) {
    const folders = await this.folders.ownedBy(userId);
    return {
      folders: folders.map(({ id, name, parentId, createdAt, updatedAt }) => ({
        ...{ id, name, parent_id: parentId },
        ...{ created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() },
      })),
    };
  }

  @ApiOperation({ summary: 'Creates a folder, at the top level or in another folder' })
  @DocumentedBody({ type: NewFolder }, { name: 'Support' })
  @Access({ for: 'user', action: 'create', of: 'folders', scopes: ['agents:write'], closedToRestricted: ['agents'] })
  @Post()
  @HttpCode(201)
  async create(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Body() body: NewFolder) {
    const folder = { name: body.name, parentId: body.parent_id || null };
    const { folderId, position } = await this.commands.execute(new CreateAgentFolder(user.userId, folder, user.cause));
    await confirm(position);
    return { id: folderId, name: folder.name, parent_id: folder.parentId };
  }

  @ApiOperation({ summary: 'Returns a folder with its agents and subfolders' })
  @Access({ for: 'user', action: 'read', of: 'folders', scopes: ['agents:read'] })
  @Get(':id')
  async one(@CurrentUser() user: SignedInUser, @Param('id') id: string) {
    const { name, parentId } = await this.owned(user, id);
    const [agents, subfolders] = await Promise.all([
      this.folders.agentsIn(user.userId, id),
      this.folders.foldersIn(user.userId, id),
    ]);
    return { id, name, parent_id: parentId, agents: visible(user, 'agents', agents), subfolders };
  }

  @ApiOperation({ summary: 'Renames or moves a folder; fields that are left out do not change' })
  @DocumentedBody({ type: FolderChange }, { name: 'Service', parent_id: null })
  @Access({ for: 'user', action: 'change', of: 'folders', scopes: ['agents:write'], closedToRestricted: ['agents'] })
  @Put(':id')
  async change(
    @CurrentUser() user: SignedInUser,
    @Confirms('agents') confirm: Confirm,
    @Param('id') id: string,
    @Body() body: FolderChange,
  ) {
    const { name, parent_id: parentId } = body;
    const change = { ...(typeof name === 'string' && { name }), ...(parentId !== undefined && { parentId: parentId || null }) };
    await confirm(await this.commands.execute(new ChangeAgentFolder(id, user.userId, change, user.cause)));
    return { success: true };
  }

  @ApiOperation({ summary: 'Deletes a folder; its subfolders move to the top level, and its agents are in no folder' })
  @Access({ for: 'user', action: 'delete', of: 'folders', scopes: ['agents:write'], closedToRestricted: ['agents'] })
  @Delete(':id')
  async delete(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Param('id') id: string) {
    await confirm(await this.commands.execute(new DeleteAgentFolder(id, user.userId, user.cause)));
    return { success: true };
  }

  @ApiOperation({ summary: 'Moves an agent into a folder or out of its folder' })
  @DocumentedBody({ type: MovedAgent }, { agent_id: UNKNOWN, folder_id: null })
  @Access({ for: 'user', action: 'change', of: 'agents', scopes: ['agents:write'], at: inBody('agent_id') })
  @Post('move_agent')
  @HttpCode(200)
  async move(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Body() body: MovedAgent) {
    return this.moveAll(user, confirm, [body.agent_id], body.folder_id || null);
  }

  @ApiOperation({
    summary: 'Moves agents into a folder or out of their folders; none is moved if one does not belong to the caller',
  })
  @DocumentedBody({ type: MovedAgents }, { agent_ids: [UNKNOWN], folder_id: null })
  @Access({ for: 'user', action: 'list', of: 'agents', scopes: ['agents:write'] })
  @Post('bulk_move')
  @HttpCode(200)
  async moveMany(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Body() body: MovedAgents) {
    if (body.agent_ids.length === 0) throw new Rejection('invalid-request', 'Agent IDs are required');
    requireAccess(user, { does: 'refer', family: 'agents', ids: body.agent_ids });
    return this.moveAll(user, confirm, [...new Set(body.agent_ids)], body.folder_id || null);
  }

  private async moveAll(user: SignedInUser, confirm: Confirm, agentIds: readonly string[], folderId: string | null) {
    for (const id of agentIds) reached(user, isId(id) ? await this.agents.byId(id) : undefined, agentNotFound, 'agents');
    if (folderId !== null) await this.owned(user, folderId);
    let newest: bigint | undefined;
    for (const id of agentIds) {
      const command = new UpdateAgent(id, user.userId, { changes: { folderId } }, user.cause);
      newest = (await this.commands.execute(command)).position ?? newest;
    }
    await confirm(newest);
    return { success: true };
  }

  private async owned(user: SignedInUser, id: string): Promise<AgentFolderRecord> {
    return reached(user, isId(id) ? await this.folders.byId(id) : undefined, folderNotFound);
  }
}
