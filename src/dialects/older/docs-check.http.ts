import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { Access } from '../../platform/http/access.js';
import { DocumentedBody } from '../../platform/http/documented.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';
import { lastPartOf, NamedSources } from './named-sources.js';
import { LOCATION_CHARACTERS_MAX } from './older-question.policy.js';

/** The entry for no source in the list of older clients. */
const NONE = 'default';

class DocsLocation {
  @IsString() @MaxLength(LOCATION_CHARACTERS_MAX) docs!: string;
}

/** Older clients check with this route that a source exists before they ask it. */
@ApiTags('Older clients')
@Controller('api')
export class DocsCheckController {
  constructor(private readonly sources: NamedSources) {}

  @ApiOperation({ summary: 'Whether a source exists with this id or name, or with the id or name at the end of this path' })
  @DocumentedBody({ type: DocsLocation }, { docs: 'local/Handbook/' })
  @Access({ for: 'user', action: 'list', of: 'sources', scopes: ['sources:read'] })
  @Post('docs_check')
  @HttpCode(200)
  async check(@CurrentUser() user: SignedInUser, @Body() { docs }: DocsLocation) {
    const exists = lastPartOf(docs) === NONE || (await this.sources.find(user, [docs]))[0] !== undefined;
    return { status: exists ? 'exists' : 'not found' };
  }
}
