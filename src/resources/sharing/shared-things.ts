import { Injectable } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import type { Family } from '../../kernel/access.js';
import { isId } from '../../kernel/ids.js';

/** A resource that can be shared. */
export type SharableThing = Readonly<{ id: string; ownerId: string; name: string }>;

/** Looks up resources of all families that can be shared. */
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
    const thing = isId(id) ? await this[family].byId(id) : undefined;
    return thing && { id: thing.id, ownerId: thing.ownerId, name: nameOf(thing) };
  }
}

type Named = Readonly<
  | { name: string }
  | { configuration: Readonly<{ name: string }> }
  | { definition: Readonly<{ customName: string; displayName: string }> }
>;

/** The name that its owner gave it. */
function nameOf(thing: Named): string {
  if ('configuration' in thing) return thing.configuration.name;
  return 'definition' in thing ? thing.definition.customName || thing.definition.displayName : thing.name;
}
