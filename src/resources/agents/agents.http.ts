import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, UploadedFile, UseInterceptors } from '@nestjs/common';
import { FileInterceptor, type UploadedMultipartFile } from '@nestjs/platform-fastify';
import { ApiConsumes, ApiExtraModels, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { type ResourceAction, inPath, inQuery } from '../../kernel/access.js';
import { Commands } from '../../kernel/commands.js';
import { type AgentRecord, AgentQueries } from '../../../projections/agents/agents.queries.js';
import type { SignedInUser } from '../identity/caller.js';
import { may, requireAccess, visible } from '../identity/access.policy.js';
import { Reaching } from '../identity/reaching.js';
import { CurrentUser } from '../identity/identity.http.js';
import { Blobs } from '../../kernel/blobs.js';
import { Fingerprints } from '../../kernel/event-sourcing/fingerprints.js';
import { isId } from '../../kernel/ids.js';
import { linkTokenOf } from '../../kernel/event-sourcing/link-tokens.js';
import { Rejection } from '../../kernel/rejection.js';
import { agentNotFound } from './agent.decider.js';
import type { AgentConfiguration } from './agent.events.js';
import { BLANK_AGENT, changesOfEditor } from './agent.policy.js';
import { maskedAgentKey } from '../identity/agent-keys.policy.js';
import { AgentFields, changesIn, readAgentFields, refuseIncomplete, refuseUnknownModels } from './agent-fields.http.js';
import { Guardrails } from '../guardrails/guardrails.port.js';
import { LanguageModels } from '../models/model/language-model.port.js';
import { keepImage } from './agent-images.http.js';
import { agentRecord, agentRecordInFull } from './agent-record.http.js';
import { CreateAgent, DeleteAgent, PinAgent, RegenerateAgentKey, UpdateAgent } from './agent.commands.js';
import { BaseUrl } from './public-base-url.http.js';
import { ReferredThings, type ToolDetail } from './referred-things.js';
import { ReadableFormFields } from '../../platform/http/bodies/form-fields.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';

const AgentImageUpload = FileInterceptor('image');

const AGENT_BODY = {
  allOf: [
    { $ref: getSchemaPath(AgentFields) },
    { type: 'object', properties: { image: { type: 'string', format: 'binary', description: 'Only in a form.' } } },
  ],
};
const NEW_AGENT = {
  name: 'Guide',
  description: 'Answers from the handbook.',
  status: 'published',
  chunks: 6,
  retriever: 'classic',
  prompt_id: 'default',
};

/** Lists, creates, changes, pins and deletes agents. */
@ApiTags('Agents')
@ApiExtraModels(AgentFields)
@Controller('api')
export class AgentsController {
  constructor(
    private readonly commands: Commands,
    private readonly agents: AgentQueries,
    private readonly things: ReferredThings,
    private readonly blobs: Blobs,
    private readonly models: LanguageModels,
    private readonly guardrails: Guardrails,
    private readonly reaching: Reaching,
    private readonly fingerprints: Fingerprints,
  ) {}

  @ApiOperation({ summary: 'Lists the user’s agents, and those of others that the user may use by teams' })
  @Access({ for: 'user', action: 'list', of: 'agents', scopes: ['agents:read'] })
  @Get('get_agents')
  async list(@CurrentUser() user: SignedInUser, @BaseUrl() baseUrl: string) {
    const [own, pins, held] = await Promise.all([
      this.agents.ownedBy(user.userId),
      this.agents.pinsOf(user.userId),
      this.reaching.held(user.userId, 'agents'),
    ]);
    const agents = visible(user, 'agents', [...own, ...(await this.agents.among([...held.keys()]))]);
    const tools = await this.things.toolDetails(agents);
    return agents.map((agent) =>
      agentRecord({ ...this.shown(user, agent, tools), grant: held.get(agent.id), pinned: pins.has(agent.id), baseUrl }),
    );
  }

  @ApiOperation({ summary: 'Returns an agent with the resources that it uses' })
  @Access({ for: 'user', action: 'read', of: 'agents', scopes: ['agents:read'], at: inQuery('id'), granted: 'use' })
  @Get('get_agent')
  async one(@CurrentUser() user: SignedInUser, @BaseUrl() baseUrl: string, @Query('id') id?: string) {
    const agent = await this.reached(user, id, 'use');
    const [pinned, tools, referred, grant] = await Promise.all([
      this.agents.isPinned(agent.id, user.userId),
      this.things.toolDetails([agent]),
      this.things.of(agent),
      this.reaching.grantOf(user.userId, agent, 'agents'),
    ]);
    return agentRecordInFull({ ...this.shown(user, agent, tools), grant, pinned, baseUrl }, referred);
  }

  @ApiOperation({ summary: 'Lists the agents that the user has pinned' })
  @Access({ for: 'user', action: 'list', of: 'agents', scopes: ['agents:read'] })
  @Get('pinned_agents')
  async pinned(@CurrentUser() user: SignedInUser, @BaseUrl() baseUrl: string) {
    const pinned = await this.agents.pinnedBy(user.userId);
    const held = await this.reaching.grantsOf(user.userId, pinned, 'agents');
    const agents = visible(user, 'agents', await this.reaching.usableAmong(user.userId, pinned, 'agents'));
    const tools = await this.things.toolDetails(agents);
    return agents.map((agent) =>
      agentRecord({ ...this.shown(user, agent, tools), grant: held.get(agent.id), pinned: true, baseUrl }),
    );
  }

  @ApiOperation({ summary: 'Creates an agent; if it is published, it can be asked with the returned key' })
  @ApiConsumes('application/json', 'multipart/form-data')
  @DocumentedBody({ schema: { ...AGENT_BODY, required: ['name', 'status'] } }, NEW_AGENT)
  @Access({ for: 'user', action: 'create', of: 'agents', scopes: ['agents:write'] })
  @Post('create_agent')
  @UseInterceptors(AgentImageUpload, ReadableFormFields)
  async create(
    @CurrentUser() user: SignedInUser,
    @Confirms('agents') confirm: Confirm,
    @Body() body: unknown,
    @UploadedFile() image?: UploadedMultipartFile,
  ) {
    const fields = await readAgentFields(body);
    if (!fields.status) throw new Rejection('invalid-request', "Status must be either 'draft' or 'published'");
    refuseIncomplete(fields);
    const named = changesIn(fields, BLANK_AGENT, this.guardrails.checks);
    requireReferences(user, named);
    await refuseUnknownModels(this.models, named, BLANK_AGENT, user.userId);
    const changes = { ...named, ...(await this.imageIn(image)) };
    const configuration = { ...BLANK_AGENT, retriever: 'classic', ...changes };
    const { agentId, key, position } = await this.commands.execute(
      new CreateAgent(user.userId, { configuration, status: fields.status }, user.cause),
    );
    await confirm(position);
    return { id: agentId, key: shownKey(user, key) };
  }

  @ApiOperation({ summary: 'Changes an agent; fields that are left out do not change' })
  @ApiConsumes('application/json', 'multipart/form-data')
  @DocumentedBody({ schema: AGENT_BODY }, { description: NEW_AGENT.description })
  @Access({ for: 'user', action: 'change', of: 'agents', scopes: ['agents:write'], at: inPath('id'), granted: 'edit' })
  @Put('update_agent/:id')
  @UseInterceptors(AgentImageUpload, ReadableFormFields)
  async update(
    @CurrentUser() user: SignedInUser,
    @Confirms('agents') confirm: Confirm,
    @Param('id') id: string,
    @Body() body: unknown,
    @UploadedFile() image?: UploadedMultipartFile,
  ) {
    const agent = await this.reached(user, id, 'edit');
    const { configuration, ownerId } = agent;
    const grant = await this.reaching.grantOf(user.userId, agent, 'agents');
    const fields = await readAgentFields(body);
    const wanted = changesIn(fields, configuration, this.guardrails.checks);
    const named = grant ? changesOfEditor(wanted, configuration) : wanted;
    requireReferences(user, named);
    await refuseUnknownModels(this.models, named, configuration, ownerId);
    const changes = { ...named, ...(await this.imageIn(image)) };
    if (Object.keys(changes).length === 0 && !fields.status)
      throw new Rejection('invalid-request', 'No valid update data provided');
    const { expected_updated_at: expected, status } = fields;
    const expectedUpdatedAt = expected === undefined ? undefined : new Date(expected);
    const change = { changes, status, expectedUpdatedAt, editorId: user.userId };
    const { key, position } = await this.commands.execute(new UpdateAgent(id, ownerId, change, user.cause));
    await confirm(position);
    // Only the owner sees the key of an agent.
    const shown = key && !grant ? { key: shownKey(user, key) } : {};
    return { success: true, id, message: 'Agent updated successfully', ...shown };
  }

  @ApiOperation({ summary: 'Gives an agent a new key; the old one is invalid at once' })
  @Access({ for: 'user', action: 'change', of: 'agents', scopes: ['agents:keys'], at: inPath('id') })
  @Post('regenerate_agent_key/:id')
  @HttpCode(200)
  async regenerateKey(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Param('id') id: string) {
    await this.reached(user, id);
    const { key, position } = await this.commands.execute(new RegenerateAgentKey(id, user.userId, user.cause));
    await confirm(position);
    return { success: true, key };
  }

  @ApiOperation({ summary: 'Deletes an agent' })
  @Access({ for: 'user', action: 'delete', of: 'agents', scopes: ['agents:write'], at: inQuery('id'), granted: 'delete' })
  @Delete('delete_agent')
  async delete(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Query('id') id?: string) {
    const agent = await this.reached(user, id, 'delete');
    await confirm(await this.commands.execute(new DeleteAgent(agent.id, agent.ownerId, user.cause)));
    return { id: agent.id };
  }

  @ApiOperation({ summary: 'Pins an agent, or removes the pin' })
  @Access({ for: 'user', action: 'change', of: 'agents', scopes: ['agents:write'], at: inQuery('id'), granted: 'pin' })
  @Post('pin_agent')
  @HttpCode(200)
  async togglePin(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Query('id') id?: string) {
    const agent = await this.reached(user, id, 'pin');
    const pinned = !(await this.agents.isPinned(agent.id, user.userId));
    await confirm(await this.commands.execute(new PinAgent(agent.id, user.userId, pinned, user.cause)));
    return { success: true, action: pinned ? 'pinned' : 'unpinned' };
  }

  /** Shows the token of a link only to callers who may read keys. */
  private shown(user: SignedInUser, agent: AgentRecord, tools: ReadonlyMap<string, ToolDetail>) {
    const linkToken =
      agent.link && may(user, { does: 'see-keys' }) ? linkTokenOf(this.fingerprints, 'agent-link', agent.link.linkId) : '';
    return { agent, tools, linkToken };
  }

  /** The agent, if the user owns it or has a grant for the action `needs`. Undefined: only the owner may. @throws Rejection */
  private async reached(user: SignedInUser, id: string | undefined, needs?: ResourceAction): Promise<AgentRecord> {
    if (!id) throw new Rejection('invalid-request', 'ID is required');
    const agent = isId(id) ? await this.agents.byId(id) : undefined;
    return this.reaching.reached(user, agent, 'agents', needs, agentNotFound);
  }

  private async imageIn(file: UploadedMultipartFile | undefined) {
    return file?.buffer?.length ? { image: await keepImage(this.blobs, file.buffer) } : {};
  }
}

/** Shows a new key completely to callers who may read keys, and masked to all others. */
const shownKey = (user: SignedInUser, key: string): string => (may(user, { does: 'see-keys' }) ? key : maskedAgentKey(key));

/** @throws Rejection resource-not-allowed if the agent refers to something that the caller's credential may not reach */
function requireReferences(user: SignedInUser, named: Partial<AgentConfiguration>): void {
  const { source, additionalSources = [], promptId, tools = [], workflowId } = named;
  const families = {
    sources: [source, ...additionalSources],
    prompts: [promptId],
    tools,
    workflows: [workflowId],
  };
  for (const family of ['sources', 'prompts', 'tools', 'workflows'] as const) {
    const ids = families[family].filter((id) => typeof id === 'string' && id !== '') as readonly string[];
    requireAccess(user, { does: 'refer', family, ids });
  }
}
