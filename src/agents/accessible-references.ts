import { Injectable } from '@nestjs/common';
import { PromptQueries } from '../../projections/prompts/prompts.queries.js';
import { isId } from '../kernel/ids.js';
import type { AgentConfiguration } from './agent.events.js';

/** Which of the things that an agent is to use its owner may use. */
@Injectable()
export class AccessibleReferences {
  constructor(private readonly prompts: PromptQueries) {}

  /** Those that are gone, or somebody else's. There are no folders and no workflows yet, so any of them is. */
  async inaccessible(ownerId: string, changes: Partial<AgentConfiguration>): Promise<ReadonlySet<string>> {
    const { promptId, folderId, workflowId } = changes;
    const missing = new Set([folderId, workflowId].filter((id) => typeof id === 'string'));
    if (promptId && isId(promptId) && (await this.prompts.byId(promptId))?.ownerId !== ownerId) missing.add(promptId);
    return missing;
  }
}
