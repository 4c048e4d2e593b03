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
  device: ['device'],
};

/** Declares what a route does to which kind of resource, and which scope lets a personal access token do it. */
export function Access(access: RouteAccess): MethodDecorator {
  const { scopes } = access;
  const schemes = [...SCHEMES[access.for], ...(access.shownByLinks ? ['share-token'] : [])];
  const security = schemes.map((scheme) => ApiSecurity(scheme));
  const isForTokens = access.for === 'user' || access.for === 'caller';
  const named = scopes === undefined ? [] : [ApiExtension('x-token-scopes', scopes === 'any-token' ? [] : [...scopes])];
  const documented = isForTokens ? [...named, ApiResponse({ status: 403, description: refusedToTokens(scopes) })] : [];
  return applyDecorators(SetMetadata(ROUTE_ACCESS, access), ...security, ...documented);
}

function refusedToTokens(scopes: RouteAccess['scopes']): string {
  if (scopes === undefined) return 'Closed to personal access tokens (`not_available_to_tokens`).';
  if (scopes === 'any-token') return 'The personal access token is restricted to other resources (`resource_not_allowed`).';
  const named = scopes.map((scope) => `\`${scope}\``).join(', ');
  return `The personal access token has none of the scopes ${named} (\`insufficient_scope\`), or is restricted to other resources (\`resource_not_allowed\`).`;
}
