import { Injectable } from '@nestjs/common';
import { AgentFolderQueries } from '../../../projections/agents/agent-folders.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { isId } from '../../kernel/ids.js';
import { defaultToolOf } from '../tools/defaults/default-tools.policy.js';
import type { AgentConfiguration } from './agent.events.js';

/** Which of the things that an agent is to use its owner may use. */
@Injectable()
export class AccessibleReferences {
  constructor(
    private readonly prompts: PromptQueries,
    private readonly sources: SourceQueries,
    private readonly tools: ToolQueries,
    private readonly workflows: WorkflowQueries,
    private readonly folders: AgentFolderQueries,
  ) {}

  /** Those that are gone, or somebody else's. */
  async inaccessible(ownerId: string, changes: Partial<AgentConfiguration>): Promise<ReadonlySet<string>> {
    const { source, additionalSources = [], promptId, tools = [], folderId, workflowId } = changes;
    const missing = new Set<string>();
    if (folderId && (await this.folders.byId(folderId))?.ownerId !== ownerId) missing.add(folderId);
    if (workflowId && !(await this.hasWorkflow(ownerId, workflowId))) missing.add(workflowId);
    if (promptId && isId(promptId) && (await this.prompts.byId(promptId))?.ownerId !== ownerId) missing.add(promptId);
    const sourceIds = [source ?? '', ...additionalSources].filter((id) => id !== '');
    const owned = new Set(sourceIds.length > 0 ? await this.sources.ownedAmong(ownerId, sourceIds) : []);
    for (const id of sourceIds) if (!owned.has(id)) missing.add(id);
    const ownTools = tools.filter((id) => defaultToolOf(id) === undefined);
    const found = new Set((await this.tools.ownedAmong(ownerId, ownTools)).map(({ id }) => id));
    for (const id of ownTools) if (!found.has(id)) missing.add(id);
    return missing;
  }

  private async hasWorkflow(ownerId: string, workflowId: string): Promise<boolean> {
    return isId(workflowId) && (await this.workflows.byId(workflowId))?.ownerId === ownerId;
  }
}
