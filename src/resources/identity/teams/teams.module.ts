import { Global, Module } from '@nestjs/common';
import { KeptAgentQueries } from '../../../../projections/agents/kept-agents.queries.js';
import { TeamQueries } from '../../../../projections/teams/teams.queries.js';
import { Reaching } from '../reaching.js';
import { teamHandlers } from './team.commands.js';
import { teamNotifications } from './team.notifications.js';
import { TeamsController } from './teams.http.js';
import { teamsRejections } from './teams.rejections.js';

/** Teams and their grants, and the check of which resources a user may access by them. */
@Global()
@Module({
  controllers: [TeamsController],
  providers: [TeamQueries, KeptAgentQueries, Reaching, ...teamHandlers],
  exports: [Reaching],
})
export class TeamsModule {
  static readonly notifications = teamNotifications;
  static readonly rejections = teamsRejections;
}
