import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import type { Family } from '../../kernel/access.js';
import { isId } from '../../kernel/ids.js';

/** Something that can be shared. */
export type SharableThing = Readonly<{ id: string; ownerId: string }>;

/** The things that users share with their teams, of all families. */
@Injectable()
export class SharedThings {
  constructor(
    private readonly agents: AgentQueries,
    private readonly sources: SourceQueries,
    private readonly prompts: PromptQueries,
    private readonly tools: ToolQueries,
    private readonly workflows: WorkflowQueries,
  ) {}

  async byId(family: Family, id: string): Promise<SharableThing | undefined> {
    return isId(id) ? this[family].byId(id) : undefined;
  }
}
