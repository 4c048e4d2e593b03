import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsNotEmpty, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { Commands } from '../../kernel/commands.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody, Integer } from '../../platform/http/documented.js';
import { CreateAgent, DeleteAgent } from '../../resources/agents/agent.commands.js';
import { BLANK_AGENT } from '../../resources/agents/agent.policy.js';
import { may, reached, requireAccess, visible } from '../../resources/identity/access.policy.js';
import { maskedAgentKey } from '../../resources/identity/agent-keys.policy.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { type Confirm, Confirms } from '../../resources/confirmed-writes.http.js';
import { inBody } from '../../kernel/access.js';

const NAME_CHARACTERS_MAX = 200;
const CHUNKS_MAX = 500;

const agentNotFound = () => new Rejection('agent-not-found', 'Agent not found');

class NewApiKey {
  @IsString() @Matches(/\S/, { message: 'name must not be blank' }) @MaxLength(NAME_CHARACTERS_MAX) name!: string;
  @IsOptional() @IsString() source?: string | null;
  @IsString() prompt_id!: string;
  /** Older clients send the number as a string, which is also accepted. */
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value))
  @Integer()
  @Min(0)
  @Max(CHUNKS_MAX)
  chunks!: number;
}

class ApiKeyId {
  @IsString() @IsNotEmpty() id!: string;
}

/** The API keys of older clients. Each key belongs to a separate agent. */
@ApiTags('Older clients')
@Controller('api')
export class ApiKeysController {
  constructor(
    private readonly commands: Commands,
    private readonly agents: AgentQueries,
  ) {}

  @ApiOperation({ summary: 'The keys of the caller’s agents, masked' })
  @Access({ for: 'user', action: 'list', of: 'agents', scopes: ['agents:read'] })
  @Get('get_api_keys')
  async list(@CurrentUser() user: SignedInUser) {
    const agents = visible(user, 'agents', await this.agents.ownedBy(user.userId));
    return agents.flatMap(({ id, key, configuration: { name, source } }) => (key ? [{ id, name, key: key.masked, source }] : []));
  }

  @ApiOperation({ summary: 'Creates a published agent and returns its key once, masked if the token may not read keys' })
  @DocumentedBody({ type: NewApiKey }, { name: 'Shop', source: '', prompt_id: 'default', chunks: 2 })
  @Access({ for: 'user', action: 'create', of: 'agents', scopes: ['agents:write'] })
  @Post('create_api_key')
  @HttpCode(200)
  async create(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Body() body: NewApiKey) {
    const { name, prompt_id: promptId, chunks } = body;
    const source = body.source && body.source !== 'default' ? body.source : '';
    requireAccess(user, { does: 'refer', family: 'sources', ids: source ? [source] : [] });
    requireAccess(user, { does: 'refer', family: 'prompts', ids: promptId ? [promptId] : [] });
    const configuration = { ...BLANK_AGENT, retriever: 'classic', name, description: name, source, promptId, chunks };
    const { agentId, key, position } = await this.commands.execute(
      new CreateAgent(user.userId, { configuration, status: 'published' }, user.cause),
    );
    await confirm(position);
    return { id: agentId, key: may(user, { does: 'see-keys' }) ? key : maskedAgentKey(key) };
  }

  @ApiOperation({ summary: 'Deletes the agent of a key' })
  @DocumentedBody({ type: ApiKeyId }, { id: '00000000-0000-4000-8000-000000000000' })
  @Access({ for: 'user', action: 'delete', of: 'agents', scopes: ['agents:write'], at: inBody('id') })
  @Post('delete_api_key')
  @HttpCode(200)
  async delete(@CurrentUser() user: SignedInUser, @Confirms('agents') confirm: Confirm, @Body() { id }: ApiKeyId) {
    reached(user, isId(id) ? await this.agents.byId(id) : undefined, agentNotFound, 'agents');
    await confirm(await this.commands.execute(new DeleteAgent(id, user.userId, user.cause)));
    return { status: 'ok' };
  }
}
