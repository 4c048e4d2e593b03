import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AgentQueries, type AgentRecord } from '../../../projections/agents/agents.queries.js';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import { type Identity, unauthenticated } from '../../resources/identity/identity.js';
import { KeyIdentity } from '../../resources/identity/identity.http.js';

/** The models of OpenAI's API. The holder of an agent's key sees one model: the agent. */
@ApiTags('OpenAI')
@Controller('v1/models')
export class ModelsController {
  constructor(private readonly agents: AgentQueries) {}

  @ApiOperation({ summary: 'The agent of the key, as the only model. The key is the bearer token, or in X-API-Key.' })
  @Access({ for: 'key', action: 'read', of: 'agents' })
  @Get()
  async list(@KeyIdentity() identity: Identity) {
    return { object: 'list', data: [modelOf(await this.agentOf(identity))] };
  }

  @ApiOperation({ summary: 'The agent of the key, by its id.' })
  @Access({ for: 'key', action: 'read', of: 'agents' })
  @Get(':model')
  async one(@KeyIdentity() identity: Identity, @Param('model') model: string) {
    const agent = await this.agentOf(identity);
    if (model !== agent.id) throw new Rejection('openai-model-not-found', 'The model does not exist.');
    return modelOf(agent);
  }

  private async agentOf(identity: Identity): Promise<AgentRecord> {
    const holder = await identity.agentKey();
    const agent = holder && (await this.agents.byId(holder.agentId));
    if (!agent) throw unauthenticated();
    return agent;
  }
}

const modelOf = ({ id, createdAt, configuration: { name, description } }: AgentRecord) => ({
  id,
  object: 'model',
  created: Math.floor(createdAt.getTime() / 1_000),
  owned_by: 'docsgpt',
  name,
  description,
});
