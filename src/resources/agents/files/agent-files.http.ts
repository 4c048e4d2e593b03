import { Body, Controller, Get, Headers, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { isId } from '../../../kernel/ids.js';
import { Rejection } from '../../../kernel/rejection.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBodies, OptionalHeader, RequiredQuery } from '../../../platform/http/documented.js';
import { requireAccess } from '../../identity/access.policy.js';
import type { SignedInUser } from '../../identity/caller.js';
import { Reaching } from '../../identity/reaching.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { agentNotFound } from '../agent.decider.js';
import { AgentExport } from './agent-export.js';
import { type ImportRequest, readImportBody } from './import-body.http.js';
import { ImportIntake } from './import-intake.js';
import { type Confirm, Confirms } from '../../confirmed-writes.http.js';
import { inQuery } from '../../../kernel/access.js';

const EXAMPLE = `apiVersion: docsgpt.arc53.com/v1
kind: Agent
metadata:
  slug: guide
spec:
  name: Guide
  description: Answers from the handbook.
`;

const RESOLUTION = {
  type: 'object',
  description: 'The decisions about the plan: `sources` by their names, `tools` by their keys, `models` by their names.',
};

const IMPORT_BODIES = {
  'application/json': {
    schema: { type: 'object', properties: { yaml: { type: 'string', description: 'The file.' }, resolution: RESOLUTION } },
    example: { yaml: EXAMPLE },
  },
  'multipart/form-data': {
    schema: { type: 'object', required: ['file'], properties: { file: { type: 'string', format: 'binary' } } },
    example: { file: EXAMPLE },
  },
  'application/yaml': { schema: { type: 'string' }, example: EXAMPLE },
};

/** Exports and imports agents as files. */
@ApiTags('Agents')
@Controller('api')
export class AgentFilesController {
  constructor(
    private readonly agents: AgentQueries,
    private readonly exports: AgentExport,
    private readonly intake: ImportIntake,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'Exports an agent as a file, without secrets. The first export gives it a slug' })
  @ApiProduces('application/x-yaml')
  @RequiredQuery('id')
  @Access({ for: 'user', action: 'read', of: 'agents', scopes: ['agents:read'], at: inQuery('id'), granted: 'export' })
  @Get('export_agent')
  async export(
    @CurrentUser() user: SignedInUser,
    @Confirms('agents', 'tools', 'prompts', 'custom-models', 'workflows') confirm: Confirm,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Query('id') id?: unknown,
  ) {
    if (!id) throw new Rejection('invalid-request', 'id is required');
    const found = isId(id) ? await this.agents.byId(id) : undefined;
    const agent = await this.reaching.reached(user, found, 'agents', 'export', agentNotFound);
    const { slug, text, position } = await this.exports.export(agent, user.cause);
    await confirm(position);
    void reply.header('Content-Type', 'application/x-yaml; charset=utf-8');
    void reply.header('Content-Disposition', `attachment; filename="${slug}.agent.yaml"`);
    return text;
  }

  @ApiOperation({ summary: 'Plans the import of a file; nothing is stored' })
  @DocumentedBodies(IMPORT_BODIES)
  @Access({ for: 'user', action: 'import', of: 'agents', scopes: ['agents:write'] })
  @Post('import_agent/plan')
  @HttpCode(200)
  async plan(@CurrentUser() user: SignedInUser, @Req() request: FastifyRequest, @Body() body: unknown) {
    const { text } = await readImportBody(request as ImportRequest, body);
    const { plan } = await this.intake.read(text, user);
    requireAccess(user, { does: 'import', agentId: plan.target.agent_id });
    return { success: true, plan };
  }

  @ApiOperation({ summary: 'Creates an agent from a file, or changes the agent that the file names; the file is authoritative' })
  @DocumentedBodies(IMPORT_BODIES)
  @OptionalHeader('Idempotency-Key')
  @Access({ for: 'user', action: 'import', of: 'agents', scopes: ['agents:write'] })
  @Post('import_agent')
  @HttpCode(200)
  async import(
    @CurrentUser() user: SignedInUser,
    @Req() request: FastifyRequest,
    @Confirms('agents', 'tools', 'prompts', 'custom-models', 'workflows') confirm: Confirm,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: unknown,
    @Headers('Idempotency-Key') key?: string,
  ) {
    const { text, resolution } = await readImportBody(request as ImportRequest, body);
    const read = await this.intake.read(text, user);
    requireAccess(user, { does: 'import', agentId: read.plan.target.agent_id });
    const done = await this.intake.accept(text, resolution, user, key, read);
    await confirm(done.position);
    if (done.again) void reply.header('Idempotent-Replayed', 'true');
    const { agentId, action, status, agentType, slug, warnings } = done;
    return { success: true, agent_id: agentId, action, status, agent_type: agentType, slug, warnings };
  }
}
