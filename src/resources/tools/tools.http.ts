import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Commands } from '../../kernel/commands.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import type { SignedInUser } from '../identity/caller.js';
import { visible } from '../identity/access.policy.js';
import { ownershipOf } from '../identity/grants.policy.js';
import { Reaching } from '../identity/reaching.js';
import { CurrentUser } from '../identity/identity.http.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { ChangeTool, CreateTool, DeleteTool } from './toolbox/tool.commands.js';
import { DEFAULT_TOOLS, defaultToolOf, isBuiltIn } from './defaults/default-tools.policy.js';
import { TOOLS_PER_USER_MAX } from './toolbox/definition.policy.js';
import { SwitchDefaultTool } from './defaults/default-tools.commands.js';
import { toolNotFound } from './toolbox/tool.decider.js';
import { ToolKinds } from './toolbox/tool-kinds.js';
import { defaultToolRecord, offeredKind, toolRecord } from './tool-record.http.js';
import type { ToolWish } from './toolbox/tool-setup.js';
import { NewTool, ToolActionsEdit, ToolConfigEdit, ToolEdit, ToolIdOnly, ToolStatusEdit } from './tools.dto.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';
import { inBody } from '../../kernel/access.js';

const NEW_TOOL = {
  name: 'ntfy',
  displayName: 'Ntfy',
  description: 'Sends messages to a phone.',
  config: { token: 'secret' },
  status: true,
};

/** The available kinds of tools, and the tools of a user. */
@ApiTags('Tools')
@Controller('api')
export class ToolsController {
  constructor(
    private readonly commands: Commands,
    private readonly tools: ToolQueries,
    private readonly kinds: ToolKinds,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'The kinds of tools that can be set up' })
  @Access({ for: 'user', action: 'describe', of: 'tools', scopes: ['tools:read'] })
  @Get('available_tools')
  available(@CurrentUser() _: SignedInUser) {
    const offered = this.kinds.all().filter(({ internal }) => !internal);
    return { success: true, data: offered.map(offeredKind) };
  }

  @ApiOperation({ summary: 'The user’s tools, and those that teams share with the user' })
  @Access({ for: 'user', action: 'list', of: 'tools', scopes: ['tools:read'] })
  @Get('get_tools')
  async list(@CurrentUser() user: SignedInUser) {
    const { userId } = user;
    const [own, off, held] = await Promise.all([
      this.tools.ownedBy(userId),
      this.tools.switchedOffDefaults(userId),
      this.reaching.held(userId, 'tools'),
    ]);
    const shared = await this.tools.among([...held.keys()]);
    const defaults = DEFAULT_TOOLS.flatMap((name) => this.kinds.byName(name) ?? []);
    const rows = visible(user, 'tools', [...own, ...shared]).map((record) => ({
      ...toolRecord(record, this.kinds.byName(record.definition.name)?.configFields ?? {}),
      ...ownershipOf(held.get(record.id)),
    }));
    return { success: true, tools: [...rows, ...defaults.map((kind) => defaultToolRecord(userId, kind, !off.has(kind.name)))] };
  }

  @ApiOperation({ summary: 'Sets a tool up' })
  @DocumentedBody({ type: NewTool }, NEW_TOOL)
  @Access({ for: 'user', action: 'create', of: 'tools', scopes: ['tools:write'] })
  @Post('create_tool')
  @HttpCode(200)
  async create(@CurrentUser() user: SignedInUser, @Confirms('tools') confirm: Confirm, @Body() body: NewTool) {
    if ((await this.tools.countOf(user.userId)) >= TOOLS_PER_USER_MAX) {
      throw new Rejection('too-many-tools', `There can be at most ${TOOLS_PER_USER_MAX} tools.`);
    }
    const { name, ...wish } = body;
    const { toolId, position } = await this.commands.execute(new CreateTool(user.userId, name, wish, user.cause));
    await confirm(position);
    return { id: toolId };
  }

  @ApiOperation({ summary: 'Changes a tool; missing fields stay unchanged' })
  @DocumentedBody({ type: ToolEdit }, { id: '00000000-0000-4000-8000-000000000000', customName: 'Notes' })
  @Access({ for: 'user', action: 'change', of: 'tools', scopes: ['tools:write'], at: inBody('id'), granted: 'edit' })
  @Post('update_tool')
  @HttpCode(200)
  update(@CurrentUser() user: SignedInUser, @Confirms('tools') confirm: Confirm, @Body() { id, ...wish }: ToolEdit) {
    return this.change(user, confirm, id, wish);
  }

  @ApiOperation({ summary: 'Changes the configuration of a tool' })
  @DocumentedBody({ type: ToolConfigEdit }, { id: '00000000-0000-4000-8000-000000000000', config: {} })
  @Access({
    for: 'user',
    action: 'change',
    of: 'tools',
    scopes: ['tools:write'],
    at: inBody('id'),
    granted: 'change_credentials',
  })
  @Post('update_tool_config')
  @HttpCode(200)
  updateConfig(@CurrentUser() user: SignedInUser, @Confirms('tools') confirm: Confirm, @Body() { id, config }: ToolConfigEdit) {
    return this.change(user, confirm, id, { config });
  }

  @ApiOperation({ summary: 'Changes the actions of a tool' })
  @DocumentedBody({ type: ToolActionsEdit }, { id: '00000000-0000-4000-8000-000000000000', actions: [] })
  @Access({ for: 'user', action: 'change', of: 'tools', scopes: ['tools:write'], at: inBody('id'), granted: 'edit' })
  @Post('update_tool_actions')
  @HttpCode(200)
  updateActions(
    @CurrentUser() user: SignedInUser,
    @Confirms('tools') confirm: Confirm,
    @Body() { id, actions }: ToolActionsEdit,
  ) {
    return this.change(user, confirm, id, { actions });
  }

  @ApiOperation({ summary: 'Switches a tool on or off' })
  @DocumentedBody({ type: ToolStatusEdit }, { id: '00000000-0000-4000-8000-000000000000', status: false })
  @Access({ for: 'user', action: 'change', of: 'tools', scopes: ['tools:write'], at: inBody('id'), granted: 'edit' })
  @Post('update_tool_status')
  @HttpCode(200)
  async updateStatus(
    @CurrentUser() user: SignedInUser,
    @Confirms('tools') confirm: Confirm,
    @Body() { id, status }: ToolStatusEdit,
  ) {
    const name = defaultToolOf(id);
    if (name === undefined) return this.change(user, confirm, id, { status });
    await confirm(await this.commands.execute(new SwitchDefaultTool(user.userId, name, status, user.cause)));
    return { success: true };
  }

  @ApiOperation({ summary: 'Deletes a tool' })
  @DocumentedBody({ type: ToolIdOnly }, { id: '00000000-0000-4000-8000-000000000000' })
  @Access({ for: 'user', action: 'delete', of: 'tools', scopes: ['tools:write'], at: inBody('id') })
  @Post('delete_tool')
  @HttpCode(200)
  async delete(@CurrentUser() user: SignedInUser, @Confirms('tools') confirm: Confirm, @Body() { id }: ToolIdOnly) {
    refuseFixed(id);
    await this.reaching.reached(user, await this.tools.byId(id), 'tools', undefined, toolNotFound);
    await confirm(await this.commands.execute(new DeleteTool(id, user.userId, user.cause)));
    return { success: true };
  }

  private async change(user: SignedInUser, confirm: Confirm, id: string, wish: ToolWish) {
    refuseFixed(id);
    const needs = wish.config || wish.secrets ? 'change_credentials' : 'edit';
    const tool = await this.reaching.reached(user, await this.tools.byId(id), 'tools', needs, toolNotFound);
    const by = this.reaching.isOwn(user, tool) ? 'owner' : 'editor';
    await confirm(await this.commands.execute(new ChangeTool(id, tool.ownerId, wish, user.cause, by)));
    return { success: true };
  }
}

/**
 * Refuses default and built-in tools, which users cannot change, and ids that are not valid.
 * @throws Rejection tool-not-editable, tool-not-found
 */
function refuseFixed(id: string): void {
  if (defaultToolOf(id) !== undefined || isBuiltIn(id)) {
    throw new Rejection('tool-not-editable', 'This tool comes with the service and cannot be changed.');
  }
  if (!isId(id)) throw toolNotFound();
}
