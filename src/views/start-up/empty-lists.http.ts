import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { Access } from '../../platform/http/access.js';

/**
 * A list that clients load when they start. It is always empty, because this service has no templates. With an empty list the
 * client continues, but without the route it would fail.
 */
@Controller('api')
export class EmptyListsController {
  @ApiOperation({ summary: 'Templates of agents, of which this service has none' })
  @Access({ for: 'user', action: 'describe', of: 'agents', scopes: ['agents:read'] })
  @Get('template_agents')
  templateAgents(@CurrentUser() _: SignedInUser) {
    return [];
  }
}
