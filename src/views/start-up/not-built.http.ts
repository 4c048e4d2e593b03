import { All, Controller, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Rejection } from '../../kernel/rejection.js';
import { Access } from '../../platform/http/access.js';
import type { SignedInUser } from '../../resources/identity/caller.js';
import { CurrentUser } from '../../resources/identity/identity.http.js';

/** All routes that clients may call and that this service does not implement, by feature. */
export const NOT_BUILT = {
  'Pages of administrators': [
    'admin/overview',
    'admin/users',
    'admin/users/:id',
    'admin/users/:id/role',
    'admin/users/:id/revoke-sessions',
    'admin/users/:id/tokens',
    'admin/tokens/:id',
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
  'Wikis and graphs of sources': [
    'sources/wiki',
    'sources/:id/wiki/pages',
    'sources/:id/wiki/page',
    'sources/:id/wiki/convert',
    'sources/:id/wiki/settings',
    'sources/:id/graphrag/enable',
    'sources/:id/graph',
    'sources/:id/graph/node/:node',
    'sources/:id/graph/nodes',
  ],
  'Sources made of attachments': ['sources/from_attachments'],
} as const;

/** Further such routes, whose address contains a secret, so they are called without a signed-in user. */
export const NOT_BUILT_FOR_ANYBODY = {
  'Triggers from outside': ['triggers/:token'],
  'Approvals by a link': ['approvals/:token'],
} as const;

const AREAS = Object.entries({ ...NOT_BUILT, ...NOT_BUILT_FOR_ANYBODY });
const pathsOf = (areas: Readonly<Record<string, readonly string[]>>): string[] => Object.values(areas).flat();
const areaAt = (url: string | undefined) => AREAS.find(([, paths]) => paths.some((path) => url === `/api/${path}`))![0];

/** Refuses requests to features that are not implemented, so that clients can distinguish them from a wrong address. */
@ApiExcludeController()
@Controller('api')
export class NotBuiltController {
  @Access({ for: 'user', action: 'describe', of: 'service', scopes: 'any-token' })
  @All(pathsOf(NOT_BUILT))
  refuse(@CurrentUser() _: SignedInUser, @Req() { routeOptions }: FastifyRequest): never {
    throw notBuilt(routeOptions.url);
  }

  @Access({ for: 'capability', action: 'describe', of: 'service' })
  @All(pathsOf(NOT_BUILT_FOR_ANYBODY))
  refuseAnybody(@Req() { routeOptions }: FastifyRequest): never {
    throw notBuilt(routeOptions.url);
  }
}

const notBuilt = (url: string | undefined) => new Rejection('not-built', `${areaAt(url)} are not part of this service`);
