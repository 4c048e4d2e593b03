import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import type { Audience, RouteAccess } from '../../kernel/access.js';

/** Under this name a handler keeps what it declared. */
export const ROUTE_ACCESS = 'route-access';

const SCHEMES: Readonly<Record<Audience, readonly string[]>> = {
  anyone: [],
  capability: [],
  user: ['bearer'],
  caller: ['bearer', 'agent-key'],
  key: ['agent-key'],
};

/** Declares what a route does to which kind of resource, and which scope lets a personal access token do it. */
export function Access(access: RouteAccess): MethodDecorator {
  const { scopes } = access;
  const security = SCHEMES[access.for].map((scheme) => ApiSecurity(scheme));
  const isForTokens = scopes !== undefined && (access.for === 'user' || access.for === 'caller');
  const documented = isForTokens
    ? [ApiExtension('x-token-scopes', scopes === 'any-token' ? [] : [...scopes]), ApiResponse(refusedToTokens(scopes))]
    : [];
  return applyDecorators(SetMetadata(ROUTE_ACCESS, access), ...security, ...documented);
}

const refusedToTokens = (scopes: NonNullable<RouteAccess['scopes']>) => ({
  status: 403,
  description:
    scopes === 'any-token'
      ? 'The personal access token is restricted to other resources (`resource_not_allowed`).'
      : `The personal access token has none of the scopes ${scopes.map((scope) => `\`${scope}\``).join(', ')} (\`insufficient_scope\`), or is restricted to other resources (\`resource_not_allowed\`).`,
});
