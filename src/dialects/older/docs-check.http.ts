import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { SourceQueries } from '../../../projections/sources/sources.queries.js';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import { visible } from '../../resources/identity/access.policy.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';

const LOCATION_CHARACTERS_MAX = 2_000;
/** The entry for no source in the list of older clients. */
const NONE = 'default';

class DocsLocation {
  @IsString() @MaxLength(LOCATION_CHARACTERS_MAX) docs!: string;
}

/** Older clients check with this route that a source exists before they ask it. */
@ApiTags('Older clients')
@Controller('api')
export class DocsCheckController {
  constructor(private readonly sources: SourceQueries) {}

  @ApiOperation({ summary: 'Whether a source exists with this id or name, or with the id or name at the end of this path' })
  @DocumentedBody({ type: DocsLocation }, { docs: 'local/Handbook/' })
  @Access({ for: 'user', action: 'list', of: 'sources', scopes: ['sources:read'] })
  @Post('docs_check')
  @HttpCode(200)
  async check(@CurrentUser() user: SignedInUser, @Body() { docs }: DocsLocation) {
    const wanted = docs.split('/').findLast((part) => part !== '') ?? '';
    const own = visible(user, 'sources', await this.sources.ownedBy(user.userId));
    const exists = wanted === NONE || own.some(({ id, name }) => id === wanted || name === wanted || name === docs);
    return { status: exists ? 'exists' : 'not found' };
  }
}
