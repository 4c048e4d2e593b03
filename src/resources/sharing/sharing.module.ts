import { Module } from '@nestjs/common';
import { AgentQueries } from '../../../projections/agents/agents.queries.js';
import { PromptQueries } from '../../../projections/prompts/prompts.queries.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { TeamQueries } from '../../../projections/teams/teams.queries.js';
import { ToolQueries } from '../../../projections/tools/tools.queries.js';
import { WorkflowQueries } from '../../../projections/workflows/workflows.queries.js';
import { EndGrantsOfDeleted } from './end-grants-of-deleted.reaction.js';
import { ChangeResourceSettingsHandler } from './resource-settings.commands.js';
import { SharedThings } from './shared-things.js';
import { SharingController } from './sharing.http.js';
import { sharingRejections } from './sharing.rejections.js';

const REACTIONS = [EndGrantsOfDeleted];

/** Sharing of resources with teams, and the settings of what grants allow. */
@Module({
  controllers: [SharingController],
  providers: [
    ...REACTIONS,
    TeamQueries,
    AgentQueries,
    PromptQueries,
    SourceQueries,
    ToolQueries,
    WorkflowQueries,
    SharedThings,
    ChangeResourceSettingsHandler,
  ],
  exports: [...REACTIONS],
})
export class SharingModule {
  static readonly reactions = REACTIONS;
  static readonly rejections = sharingRejections;
}
