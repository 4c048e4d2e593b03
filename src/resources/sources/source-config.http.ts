import { Body, Controller, Param, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Commands } from '../../kernel/commands.js';
import type { SignedInUser } from '../identity/caller.js';
import { Reaching } from '../identity/reaching.js';
import { CurrentUser } from '../identity/identity.http.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { isId } from '../../kernel/ids.js';
import { ConfigureSource } from './source/source.commands.js';
import { sourceConfigIn } from './source/source-config.policy.js';
import { SOURCE_CONFIG_SCHEMA, SOURCE_CONFIGURED } from './source-config.dto.js';
import { SearchAbilities, warningsAbout } from './source/source-config-warnings.policy.js';
import { sourceNotFound } from './source/source.decider.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';
import { inPath } from '../../kernel/access.js';

/** The route that changes the config of a source. */
@ApiTags('Sources')
@Controller('api/sources/:id/config')
export class SourceConfigController {
  constructor(
    private readonly commands: Commands,
    private readonly abilities: SearchAbilities,
    private readonly sources: SourceQueries,
    private readonly reaching: Reaching,
  ) {}

  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inPath('id'), granted: 'edit' })
  @Patch()
  @ApiOperation({ summary: 'Replaces the config of a source: how it is cut into chunks and searched' })
  @DocumentedBody({ schema: SOURCE_CONFIG_SCHEMA }, { retrieval: { chunks: 8 } })
  @ApiOkResponse(SOURCE_CONFIGURED)
  async configure(
    @CurrentUser() user: SignedInUser,
    @Param('id') id: string,
    @Body() body: unknown,
    @Confirms('sources', 'chunks') confirm: Confirm,
  ) {
    const source = isId(id) ? await this.sources.byId(id) : undefined;
    const { ownerId } = await this.reaching.reached(user, source, 'sources', 'edit', sourceNotFound);
    const configure = new ConfigureSource(id, ownerId, sourceConfigIn(body), user.cause);
    const { config, needsIngestion, position } = await this.commands.execute(configure);
    await confirm(position);
    return { success: true, config, requires_reingest: needsIngestion, warnings: warningsAbout(config, this.abilities) };
  }
}
