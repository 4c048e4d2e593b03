import { Controller, Get } from '@nestjs/common';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';

/**
 * Lists that clients load when they start and that this service has nothing to put into: it has no teams, folders,
 * templates and shared agents. Said plainly, an empty list lets the client go on; a missing route would stop it.
 */
@Controller('api')
export class EmptyListsController {
  @Get('teams')
  teams(@CurrentUser() _: SignedInUser) {
    return { success: true, teams: [] };
  }

  @Get('agents/folders')
  folders(@CurrentUser() _: SignedInUser) {
    return { folders: [] };
  }

  @Get('shared_agents')
  sharedAgents(@CurrentUser() _: SignedInUser) {
    return [];
  }

  @Get('template_agents')
  templateAgents() {
    return [];
  }
}
