import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Place, RouteAccess } from '../../kernel/access.js';
import { ROUTE_ACCESS } from '../../platform/http/access.js';
import { refusalOf, rejectionOf } from './access.policy.js';
import { identityOf } from './identity.http.js';

type Holder = Readonly<Record<string, unknown>> | undefined;
type Asked = Readonly<{ params?: unknown; query?: unknown; body?: unknown }>;

/** Checks by the access function whether a request may enter its route, before files are read and bodies are validated. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const route = this.reflector.get<RouteAccess | undefined>(ROUTE_ACCESS, context.getHandler());
    const asked = context.switchToHttp().getRequest<Asked>();
    const { user, device } = identityOf(context);
    const refusal = refusalOf(device ?? user, { does: 'enter', route, named: (place) => idsAt(asked, place) });
    // The key may be in a form that only the handler reads, so the caller may not be known yet. The handler checks it.
    if (refusal && !(refusal.status === 401 && isAskedLater(route))) throw rejectionOf(refusal);
    return true;
  }
}

const isAskedLater = (route: RouteAccess | undefined): boolean =>
  route?.for === 'caller' || route?.for === 'key' || route?.userIsAskedLater === true;

/** The ids at a place of the request, without missing and empty ones. */
function idsAt({ params, query, body }: Asked, place: Place): readonly unknown[] {
  const holder = { path: params, query, body }[place.in] as Holder | null;
  const value = typeof holder === 'object' && holder !== null ? holder[place.name] : undefined;
  return [value].flat(Infinity).filter((each) => each !== undefined && each !== null && each !== '');
}
