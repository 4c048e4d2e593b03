import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension, ApiSecurity } from '@nestjs/swagger';
import { type Audience, type RouteAccess, scopesIncluding } from '../../kernel/access.js';

/** The metadata key of a handler's access declaration. */
export const ROUTE_ACCESS = 'route-access';

const SCHEMES: Readonly<Record<Audience, readonly string[]>> = {
  anyone: [],
  capability: [],
  user: ['bearer'],
  caller: ['bearer', 'agent-key'],
  key: ['agent-key'],
  device: ['device'],
};

/** Declares what a route does to which kind of resource, and the scope that a personal access token needs. */
export function Access(access: RouteAccess): MethodDecorator {
  const { scopes } = access;
  const schemes = [...SCHEMES[access.for], ...(access.shownByLinks ? ['share-token'] : [])];
  const security = schemes.map((scheme) => ApiSecurity(scheme));
  const named =
    scopes === undefined
      ? []
      : [ApiExtension('x-token-scopes', scopes === 'any-token' ? [] : [...new Set(scopes.flatMap(scopesIncluding))])];
  return applyDecorators(SetMetadata(ROUTE_ACCESS, access), ...security, ...named);
}
