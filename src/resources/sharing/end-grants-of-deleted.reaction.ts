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
import { teamCodec } from '../identity/teams/team.codec.js';
import { EndGrantsOfThing } from '../identity/teams/team.commands.js';
import type { TeamGrantMade } from '../identity/teams/team.events.js';
import { SharedThings } from './shared-things.js';

type Deleted = AgentDeleted | PromptDeleted | SourceDeleted | ToolDeleted | WorkflowDeleted;

/**
 * Ends the grants of a deleted resource. Steps for a deleted resource: look up the teams that hold any; end them in the stream of
 * each team. Steps for a new grant: wait until the read model has all earlier deletions; end the grant if its resource is gone. A
 * crash in between repeats the steps, which does not change the result.
 */
@Injectable()
export class EndGrantsOfDeleted implements Reaction<Deleted | TeamGrantMade> {
  readonly name = 'end-grants-of-deleted';
  readonly categories = ['agent', 'prompt', 'source', 'tool', 'workflow', 'team'];
  readonly codec = {
    AgentDeleted: agentCodec.AgentDeleted,
    PromptDeleted: promptCodec.PromptDeleted,
    SourceDeleted: sourceCodec.SourceDeleted,
    ToolDeleted: toolCodec.ToolDeleted,
    WorkflowDeleted: workflowCodec.WorkflowDeleted,
    TeamGrantMade: teamCodec.TeamGrantMade,
  };
  readonly on = {
    AgentDeleted: (event: Recorded<AgentDeleted>) => this.end(event, 'agents', event.data.agentId),
    PromptDeleted: (event: Recorded<PromptDeleted>) => this.end(event, 'prompts', event.data.promptId),
    SourceDeleted: (event: Recorded<SourceDeleted>) => this.end(event, 'sources', event.data.sourceId),
    ToolDeleted: (event: Recorded<ToolDeleted>) => this.end(event, 'tools', event.data.toolId),
    WorkflowDeleted: (event: Recorded<WorkflowDeleted>) => this.end(event, 'workflows', event.data.workflowId),
    TeamGrantMade: (event: Recorded<TeamGrantMade>) => this.endIfGone(event),
  };

  constructor(
    private readonly teams: TeamQueries,
    private readonly commands: Commands,
    private readonly freshness: Freshness,
    private readonly things: SharedThings,
  ) {}

  private async end(event: Recorded<Deleted>, family: Family, resourceId: string): Promise<void> {
    await requireReached(this.freshness, ['teams'], event.position);
    const shares = await this.teams.sharesOf(family, resourceId);
    for (const teamId of new Set(shares.map((share) => share.teamId))) await this.endIn(teamId, { family, resourceId }, event);
  }

  private async endIfGone(event: Recorded<TeamGrantMade>): Promise<void> {
    const { teamId, grant } = event.data;
    const { family, resourceId } = grant;
    await requireReached(this.freshness, [family], event.position);
    if (!(await this.things.byId(family, resourceId))) await this.endIn(teamId, { family, resourceId }, event);
  }

  private endIn(teamId: string, thing: EndGrantsOfThing['thing'], event: Recorded<Deleted | TeamGrantMade>): Promise<void> {
    return this.commands.execute(new EndGrantsOfThing(teamId, thing, causedBy(event, `system:${this.name}`)));
  }
}
