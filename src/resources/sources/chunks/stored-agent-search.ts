import { Injectable, Logger } from '@nestjs/common';
import { AgentQueries } from '../../../../projections/agents/agents.queries.js';
import { Rejection } from '../../../kernel/rejection.js';
import { AgentSearch, type FoundChunks, type KeyHolder } from './agent-search.port.js';
import { SearchGuard } from './search-guard.js';
import { Search, type SearchRequest } from './search.port.js';

/** Searches the sources of an agent's current configuration. */
@Injectable()
export class StoredAgentSearch extends AgentSearch {
  private readonly logger = new Logger(StoredAgentSearch.name);

  constructor(
    private readonly searching: Search,
    private readonly agents: AgentQueries,
    private readonly guard: SearchGuard,
  ) {
    super();
  }

  async search({ agentId, ownerId, cause }: KeyHolder, question: string, chunks: number): Promise<FoundChunks> {
    const configuration = (await this.agents.byId(agentId))?.configuration;
    const ids = [configuration?.source ?? '', ...(configuration?.additionalSources ?? [])].filter((id) => id !== '');
    if (ids.length === 0) return { chunks: [], isPartial: false };
    const found = await this.found({ sources: ids.map((id) => ({ id })), question, chunks, ownerId });
    const agent = { agentId, ownerId, guardrails: configuration?.config.guardrails };
    const shown = await this.guard.shown(found.chunks, agent, cause);
    return {
      chunks: shown.map(({ text, title, source }) => ({ text, title, source })),
      isPartial: found.failedSources.length > 0,
    };
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
