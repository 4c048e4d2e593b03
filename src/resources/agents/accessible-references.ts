import { Injectable } from '@nestjs/common';
import { AgentFolderQueries } from '../../../projections/agents/agent-folders.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { Reaching } from '../identity/reaching.js';
import { isId } from '../../kernel/ids.js';
import { defaultToolOf } from '../tools/defaults/default-tools.policy.js';
import type { AgentConfiguration } from './agent.events.js';

/** Checks whether users may use what an agent refers to. A user may use own resources, and those of others by grants. */
@Injectable()
export class AccessibleReferences {
  constructor(
    private readonly prompts: PromptQueries,
    private readonly sources: SourceQueries,
    private readonly tools: ToolQueries,
    private readonly workflows: WorkflowQueries,
    private readonly folders: AgentFolderQueries,
    private readonly reaching: Reaching,
  ) {}

  /** The referenced ids that do not exist, or that at least one of the users (the agent's owner, its editor) may not use. */
  async inaccessible(userIds: readonly string[], changes: Partial<AgentConfiguration>): Promise<ReadonlySet<string>> {
    const missing = await Promise.all([...new Set(userIds)].map((userId) => this.inaccessibleTo(userId, changes)));
    return new Set(missing.flatMap((ids) => [...ids]));
  }

  private async inaccessibleTo(ownerId: string, changes: Partial<AgentConfiguration>): Promise<ReadonlySet<string>> {
    const { source, additionalSources = [], promptId, tools = [], folderId, workflowId } = changes;
    const missing = new Set<string>();
    if (folderId && (await this.folders.byId(folderId))?.ownerId !== ownerId) missing.add(folderId);
    if (workflowId && !(await this.hasWorkflow(ownerId, workflowId))) missing.add(workflowId);
    if (promptId && isId(promptId)) {
      const prompt = await this.prompts.byId(promptId);
      if (!(await this.reaching.isUsable(ownerId, prompt, 'prompts'))) missing.add(promptId);
    }
    const sourceIds = [source ?? '', ...additionalSources].filter((id) => id !== '');
    const sources = new Set(idsOf(await this.reaching.usableAmong(ownerId, await this.sources.among(sourceIds), 'sources')));
    for (const id of sourceIds) if (!sources.has(id)) missing.add(id);
    const ownTools = tools.filter((id) => defaultToolOf(id) === undefined);
    const found = new Set(idsOf(await this.reaching.usableAmong(ownerId, await this.tools.among(ownTools), 'tools')));
    for (const id of ownTools) if (!found.has(id)) missing.add(id);
    return missing;
  }

  private async hasWorkflow(ownerId: string, workflowId: string): Promise<boolean> {
    return isId(workflowId) && (await this.workflows.byId(workflowId))?.ownerId === ownerId;
  }
}

const idsOf = (things: readonly Readonly<{ id: string }>[]): readonly string[] => things.map(({ id }) => id);
