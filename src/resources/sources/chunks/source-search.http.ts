import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { IsNotEmpty, IsObject, IsOptional, IsString, MaxLength } from 'class-validator';
import { SourceQueries } from '../../../../projections/sources/sources.queries.js';
import { Clock } from '../../../kernel/clock.js';
import { isId } from '../../../kernel/ids.js';
import { Access } from '../../../platform/http/access.js';
import { DocumentedBody } from '../../../platform/http/documented.js';
import type { SignedInUser } from '../../identity/caller.js';
import { Reaching } from '../../identity/reaching.js';
import { CurrentUser } from '../../identity/identity.http.js';
import { CHUNKS_DEFAULT } from '../source/retrieval.policy.js';
import { sourceConfigIn } from '../source/source-config.policy.js';
import { sourceNotFound } from '../source/source.decider.js';
import { Search } from './search.port.js';
import { inPath } from '../../../kernel/access.js';

const QUERY_CHARACTERS_MAX = 10_000;

class SourceQuery {
  @IsString() @IsNotEmpty() @MaxLength(QUERY_CHARACTERS_MAX) query!: string;
  /** As in the config of a source. Applies to this search only. */
  @IsOptional() @IsObject() retrieval?: Record<string, unknown> | null;
}

/** A search in one source, with which its owner tries its settings. */
@ApiTags('Sources')
@Controller('api/sources/:id/search')
export class SourceSearchController {
  constructor(
    private readonly searching: Search,
    private readonly sources: SourceQueries,
    private readonly clock: Clock,
    private readonly reaching: Reaching,
  ) {}

  @ApiOperation({ summary: 'Searches a source without a model and returns the best chunks first' })
  @DocumentedBody({ type: SourceQuery }, { query: 'When is tea?', retrieval: { chunks: 3 } })
  @Access({ for: 'user', action: 'read', of: 'sources', scopes: ['sources:read'], at: inPath('id'), granted: 'view' })
  @Post()
  @HttpCode(200)
  async search(@CurrentUser() user: SignedInUser, @Param('id') id: string, @Body() { query, retrieval: given }: SourceQuery) {
    const stored = isId(id) ? await this.sources.byId(id) : undefined;
    const source = await this.reaching.reached(user, stored, 'sources', 'view', sourceNotFound);
    const retrieval = given ? sourceConfigIn({ retrieval: given }).retrieval : source.config.retrieval;
    const asked = { id, chunks: retrieval.chunks ?? CHUNKS_DEFAULT };
    const began = this.clock.now().getTime();
    const found = await this.searching.search({
      sources: [asked],
      question: query,
      chunks: asked.chunks,
      ownerId: source.ownerId,
    });
    const isShown = given || (await this.reaching.may(user, source, 'sources', 'view_config'));
    return {
      success: true,
      query,
      retriever: isShown ? retrieval.retriever : null,
      retrieval: isShown ? retrieval : null,
      total: found.chunks.length,
      latency_ms: this.clock.now().getTime() - began,
      chunks: found.chunks.map(({ text, title, filename, source: name, tokens, score }, at) => ({
        ...{ rank: at + 1, text, title, filename, source: name, tokens, score },
        score_kind: 'rank_fusion',
      })),
    };
  }
}
