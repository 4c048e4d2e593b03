import { Injectable } from '@nestjs/common';
import { TeamQueries } from '../../../projections/teams/teams.queries.js';
import type { Family } from '../../kernel/access.js';
import { Commands } from '../../kernel/commands.js';
import { causedBy, type Recorded } from '../../kernel/event-sourcing/events.js';
import { Freshness, requireReached } from '../../kernel/event-sourcing/freshness.js';
import type { Reaction } from '../../kernel/event-sourcing/reaction.js';
import { agentCodec } from '../agents/agent.codec.js';
import type { AgentDeleted } from '../agents/agent.events.js';
import { promptCodec } from '../prompts/prompt.codec.js';
import type { PromptDeleted } from '../prompts/prompt.events.js';
import { sourceCodec } from '../sources/source/source.codec.js';
import type { SourceDeleted } from '../sources/source/source.events.js';
import { toolCodec } from '../tools/toolbox/tool.codec.js';
import type { ToolDeleted } from '../tools/toolbox/tool.events.js';
import { workflowCodec } from '../workflows/workflow.codec.js';
import type { WorkflowDeleted } from '../workflows/workflow.events.js';
import { EndGrantsOfThing } from '../identity/teams/team.commands.js';

type Deleted = AgentDeleted | PromptDeleted | SourceDeleted | ToolDeleted | WorkflowDeleted;

/**
 * Ends the grants of a deleted resource. Step 1 looks up the teams that hold any, step 2 ends them in the stream of each team. A
 * crash before the checkpoint repeats both, which does not change the result.
 */
@Injectable()
export class EndGrantsOfDeleted implements Reaction<Deleted> {
  readonly name = 'end-grants-of-deleted';
  readonly categories = ['agent', 'prompt', 'source', 'tool', 'workflow'];
  readonly codec = {
    AgentDeleted: agentCodec.AgentDeleted,
    PromptDeleted: promptCodec.PromptDeleted,
    SourceDeleted: sourceCodec.SourceDeleted,
    ToolDeleted: toolCodec.ToolDeleted,
    WorkflowDeleted: workflowCodec.WorkflowDeleted,
  };
  readonly on = {
    AgentDeleted: (event: Recorded<AgentDeleted>) => this.end(event, 'agents', event.data.agentId),
    PromptDeleted: (event: Recorded<PromptDeleted>) => this.end(event, 'prompts', event.data.promptId),
    SourceDeleted: (event: Recorded<SourceDeleted>) => this.end(event, 'sources', event.data.sourceId),
    ToolDeleted: (event: Recorded<ToolDeleted>) => this.end(event, 'tools', event.data.toolId),
    WorkflowDeleted: (event: Recorded<WorkflowDeleted>) => this.end(event, 'workflows', event.data.workflowId),
  };

  constructor(
    private readonly teams: TeamQueries,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
  ) {}

  private async end(event: Recorded<Deleted>, family: Family, resourceId: string): Promise<void> {
    await requireReached(this.freshness, ['teams'], event.position);
    const cause = causedBy(event, `system:${this.name}`);
    const shares = await this.teams.sharesOf(family, resourceId);
    for (const teamId of new Set(shares.map((share) => share.teamId)))
      await this.commands.execute(new EndGrantsOfThing(teamId, { family, resourceId }, cause));
  }
}
