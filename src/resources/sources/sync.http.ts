import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { Commands } from '../../kernel/commands.js';
import type { SignedInUser } from '../identity/caller.js';
import { Reaching } from '../identity/reaching.js';
import { sourceNotFound } from './source/source.decider.js';
import { CurrentUser } from '../identity/identity.http.js';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { isId } from '../../kernel/ids.js';
import { Rejection } from '../../kernel/rejection.js';
import { IngestAgain, SetSyncFrequency } from './source/sync.commands.js';
import { syncFrequencyIn } from './remote/remote-request.policy.js';
import { SOURCE_INGESTED_AGAIN } from './source-config.dto.js';
import { SearchAbilities, warningsAbout } from './source/source-config-warnings.policy.js';
import { SYNC_FREQUENCIES } from './source/sync.policy.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { Access } from '../../platform/http/access.js';
import { type Confirm, Confirms } from '../confirmed-writes.http.js';
import { inBody } from '../../kernel/access.js';

class SourceBody {
  @Allow() source_id?: unknown;
}

class SyncBody extends SourceBody {
  @Allow() sync_frequency?: unknown;
}

const SOURCE = { source_id: { type: 'string' } };
const SOURCE_SCHEMA = { type: 'object', required: ['source_id'], properties: SOURCE };
const SYNC_SCHEMA = {
  type: 'object',
  required: ['source_id', 'sync_frequency'],
  properties: { ...SOURCE, sync_frequency: { type: 'string', enum: [...SYNC_FREQUENCIES] } },
};
const EXAMPLE = { source_id: '00000000-0000-4000-8000-000000000000' };

/** The routes that sync a source or ingest it again. */
@ApiTags('Sources')
@Controller('api')
export class SyncController {
  constructor(
    private readonly commands: Commands,
    private readonly abilities: SearchAbilities,
    private readonly sources: SourceQueries,
    private readonly reaching: Reaching,
  ) {}

  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inBody('source_id'), granted: 'edit' })
  @Post('manage_sync')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sets how often the pages or files of a source are fetched again' })
  @DocumentedBody({ schema: SYNC_SCHEMA }, { ...EXAMPLE, sync_frequency: 'daily' })
  async manage(
    @CurrentUser() user: SignedInUser,
    @Body() { source_id, sync_frequency }: SyncBody,
    @Confirms('sources') confirm: Confirm,
  ) {
    const sourceId = sourceIdIn(source_id);
    if (sync_frequency === undefined) throw missing('sync_frequency');
    const frequency = syncFrequencyIn(sync_frequency);
    const ownerId = await this.ownerOf(user, sourceId);
    const { position } = await this.commands.execute(new SetSyncFrequency(sourceId, ownerId, frequency, user.cause));
    await confirm(position);
    return { success: true };
  }

  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inBody('source_id'), granted: 'edit' })
  @Post('sync_source')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Fetches the pages or files of a source again; the old ones are searched until the new ones are ingested',
  })
  @DocumentedBody({ schema: SOURCE_SCHEMA }, EXAMPLE)
  @ApiOkResponse(SOURCE_INGESTED_AGAIN)
  sync(@CurrentUser() user: SignedInUser, @Body() body: SourceBody, @Confirms('sources') confirm: Confirm) {
    return this.ingestAgain(user, body, 'of-pages', confirm);
  }

  @Access({ for: 'user', action: 'change', of: 'sources', scopes: ['sources:write'], at: inBody('source_id'), granted: 'edit' })
  @Post('sources/reingest')
  @HttpCode(200)
  @ApiOperation({ summary: 'Ingests a source again: fetches its pages or parses its files, and cuts them by its current config' })
  @DocumentedBody({ schema: SOURCE_SCHEMA }, EXAMPLE)
  @ApiOkResponse(SOURCE_INGESTED_AGAIN)
  reingest(@CurrentUser() user: SignedInUser, @Body() body: SourceBody, @Confirms('sources') confirm: Confirm) {
    return this.ingestAgain(user, body, 'of-any-kind', confirm);
  }

  private async ingestAgain(user: SignedInUser, { source_id }: SourceBody, which: IngestAgain['which'], confirm: Confirm) {
    const sourceId = sourceIdIn(source_id);
    const again = new IngestAgain(sourceId, await this.ownerOf(user, sourceId), which, user.cause);
    const { ingestId, config, position } = await this.commands.execute(again);
    await confirm(position);
    return { success: true, task_id: ingestId, warnings: warningsAbout(config, this.abilities) };
  }

  /** The owner of a source that the user may edit. @throws Rejection source-not-found */
  private async ownerOf(user: SignedInUser, sourceId: string): Promise<string> {
    const source = await this.sources.byId(sourceId);
    return (await this.reaching.reached(user, source, 'sources', 'edit', sourceNotFound)).ownerId;
  }
}

/** @throws Rejection `source-not-found` if it is not an id */
function sourceIdIn(given: unknown): string {
  if (given === undefined || given === null || given === '') throw missing('source_id');
  if (!isId(given)) throw sourceNotFound();
  return given;
}

const missing = (field: string) => new Rejection('invalid-request', `Missing required fields: ${field}`);
