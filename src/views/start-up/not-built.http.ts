import { All, Controller, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';

/** What clients may ask for and this service does not do, by what it would be. This list is all of it. */
export const NOT_BUILT = {
  'Pages of administrators': [
    'admin/overview',
    'admin/users',
    'admin/users/:id',
    'admin/users/:id/role',
    'admin/users/:id/revoke-sessions',
    'admin/admins',
    'admin/usage',
    'admin/audit',
    'admin/devices/audit',
  ],
  'Connectors, of which none is configured,': [
    'connectors/auth',
    'connectors/callback',
    'connectors/callback-status',
    'connectors/files',
    'connectors/validate-session',
    'connectors/disconnect',
    'connectors/sync',
  ],
  'Changes of the files of a source': ['manage_source_files'],
  'Wikis and graphs of sources': [
    'sources/wiki',
    'sources/:id/wiki/pages',
    'sources/:id/wiki/page',
    'sources/:id/wiki/convert',
    'sources/:id/wiki/settings',
    'sources/:id/graphrag/enable',
    'sources/:id/graph',
    'sources/:id/graph/node/:node',
  ],
  'Sources made of attachments': ['sources/from_attachments'],
  'Tools of speech': ['tts', 'stt', 'stt/live/start', 'stt/live/chunk', 'stt/live/finish'],
} as const;

const AREAS = Object.entries(NOT_BUILT);

/** Refuses what is not built, so that clients can tell it from a wrong address. */
@ApiExcludeController()
@Controller('api')
export class NotBuiltController {
  @Access({ for: 'user', action: 'describe', of: 'service', scopes: 'any-token' })
  @All(AREAS.flatMap(([, paths]) => [...paths]))
  refuse(@CurrentUser() _: SignedInUser, @Req() { routeOptions }: FastifyRequest) {
    const [area] = AREAS.find(([, paths]) => paths.some((path) => routeOptions.url === `/api/${path}`))!;
    throw new Rejection('not-built', `${area} are not part of this service`);
  }
}
