import { Body, Controller, Headers, HttpCode, Logger, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import type { Identity } from '../../identity/identity.js';
import { KeyIdentity } from '../../identity/identity.http.js';
import { Rejection } from '../../../kernel/rejection.js';
import { SEARCH_CHUNKS_DEFAULT } from '../source/retrieval.policy.js';
import { Search, type SearchRequest } from './search.port.js';
import { SearchGuard } from './search-guard.js';
import { DocumentedBody, OptionalHeader } from '../../../platform/http/documented.js';
import { Access } from '../../../platform/http/access.js';
import { FAMILIES } from '../../../kernel/access.js';

const SEARCH_BODY = {
  type: 'object',
  required: ['question'],
  properties: {
    question: { type: 'string' },
    api_key: {
      type: 'string',
      description: 'The key of the agent whose sources are searched; the header X-API-Key takes it as well.',
    },
    chunks: { type: 'number', default: SEARCH_CHUNKS_DEFAULT },
  },
};

type Found = Readonly<{ text: string; title: string; source: string }>;

/** Retrieval without a model. */
@ApiTags('Search')
@Controller('api')
export class SearchController {
  private readonly logger = new Logger(SearchController.name);

  constructor(
    private readonly searching: Search,
    private readonly agents: AgentQueries,
    private readonly guard: SearchGuard,
  ) {}

  @Access({ for: 'key', action: 'search', of: 'answers', scopes: ['chat:run'], closedToRestricted: FAMILIES })
  @Post('search')
  @HttpCode(200)
  @ApiOperation({ summary: 'The pieces of an agent’s sources that answer a question' })
  @OptionalHeader('X-API-Key')
  @DocumentedBody({ schema: SEARCH_BODY }, { question: 'When is tea?' })
  async search(
    @KeyIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: unknown,
    @Headers('X-API-Key') keyInHeader?: string,
  ): Promise<readonly Found[]> {
    const { question, chunks } = askedIn(body, keyInHeader);
    if (chunks <= 0) return [];
    const { agentId, ownerId, cause } = await holderOf(identity);
    const configuration = (await this.agents.byId(agentId))?.configuration;
    const ids = [configuration?.source ?? '', ...(configuration?.additionalSources ?? [])].filter((id) => id !== '');
    if (ids.length === 0) return [];
    const found = await this.found({ sources: ids.map((id) => ({ id })), question, chunks, ownerId });
    if (found.failedSources.length > 0) void reply.header('X-Partial', 'true');
    const agent = { agentId, ownerId, guardrails: configuration?.config.guardrails };
    const shown = await this.guard.shown(found.chunks, agent, cause);
    return shown.map(({ text, title, source }) => ({ text, title, source }));
  }

  private async found(request: SearchRequest) {
    try {
      return await this.searching.search(request);
    } catch (error) {
      this.logger.error(error);
      throw new Rejection('search-failed', 'Search failed');
    }
  }
}

async function holderOf(identity: Identity) {
  const holder = await identity.agentKey();
  if (!holder) throw new Rejection('invalid-request', 'api_key is required');
  return holder;
}

/** What was asked, when it was asked rightly: what is missing goes before what is wrong. */
function askedIn(body: unknown, keyInHeader: string | undefined): Readonly<{ question: string; chunks: number }> {
  if (body !== undefined && body !== null && (typeof body !== 'object' || Array.isArray(body))) {
    throw new Rejection('invalid-request', 'The request body must be a JSON object.');
  }
  const { question, api_key: key, chunks = SEARCH_CHUNKS_DEFAULT } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (question === undefined || question === null || question === '')
    throw new Rejection('invalid-request', 'question is required');
  if (isBlank(key) && isBlank(keyInHeader)) throw new Rejection('invalid-request', 'api_key is required');
  if (typeof question !== 'string') throw new Rejection('invalid-request', 'question must be a string');
  if (!isBlank(key) && typeof key !== 'string') throw new Rejection('invalid-request', 'api_key must be a string');
  if (typeof chunks !== 'number') throw new Rejection('invalid-request', 'chunks must be a number');
  return { question, chunks };
}

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === '';
