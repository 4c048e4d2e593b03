import { Body, Controller, Headers, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Identity } from '../../identity/identity.js';
import { KeyIdentity } from '../../identity/identity.http.js';
import { Rejection } from '../../../kernel/rejection.js';
import { SEARCH_CHUNKS_DEFAULT } from '../source/retrieval.policy.js';
import { AgentSearch, type FoundChunk } from './agent-search.port.js';
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
      description: 'The key of the agent whose sources are searched. It may also be in the header X-API-Key.',
    },
    chunks: { type: 'number', default: SEARCH_CHUNKS_DEFAULT },
  },
};

/** Retrieval without a model. */
@ApiTags('Search')
@Controller('api')
export class SearchController {
  constructor(private readonly searching: AgentSearch) {}

  @Access({ for: 'key', action: 'search', of: 'answers', scopes: ['chat:run'], closedToRestricted: FAMILIES })
  @Post('search')
  @HttpCode(200)
  @ApiOperation({ summary: 'Searches an agent’s sources for chunks that answer a question' })
  @OptionalHeader('X-API-Key')
  @DocumentedBody({ schema: SEARCH_BODY }, { question: 'When is tea?' })
  async search(
    @KeyIdentity() identity: Identity,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: unknown,
    @Headers('X-API-Key') keyInHeader?: string,
  ): Promise<readonly FoundChunk[]> {
    const { question, chunks } = askedIn(body, keyInHeader);
    if (chunks <= 0) return [];
    const found = await this.searching.search(await holderOf(identity), question, chunks);
    if (found.isPartial) void reply.header('X-Partial', 'true');
    return found.chunks;
  }
}

async function holderOf(identity: Identity) {
  const holder = await identity.agentKey();
  if (!holder) throw new Rejection('invalid-request', 'api_key is required');
  return holder;
}

/** Validates the request. Missing fields are reported before invalid ones. @throws Rejection invalid-request */
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
