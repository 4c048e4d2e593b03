import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ROOMS } from '../../src/app/rooms.js';
import type { RouteAccess } from '../../src/kernel/access.js';
import { ROUTE_ACCESS } from '../../src/platform/http/access.js';

/** A route of the service, with its access declaration. */
export type Route = Readonly<{ method: string; path: string; access: RouteAccess | undefined }>;

const pathOf = (...parts: readonly string[]): string => `/${parts.flatMap((part) => part.split('/').filter(Boolean)).join('/')}`;

/** The routes of a controller. Each path of a handler is one route. */
export function routesIn(controller: Type): readonly Route[] {
  const members = Object.values(Object.getOwnPropertyDescriptors(controller.prototype as object));
  const base = [Reflect.getMetadata(PATH_METADATA, controller) as string | string[]].flat();
  return members.flatMap(({ value }) => {
    if (typeof value !== 'function') return [];
    const handler = value as object;
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
    if (method === undefined) return [];
    const access = Reflect.getMetadata(ROUTE_ACCESS, handler) as RouteAccess | undefined;
    const paths = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
    return base.flatMap((at) => paths.map((path) => ({ method: RequestMethod[method], path: pathOf(at, path), access })));
  });
}

/** All routes of the service, sorted by path. */
export const routes: readonly Route[] = ROOMS.flatMap(
  (room) => (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, room) ?? []) as readonly Type[],
)
  .flatMap(routesIn)
  .toSorted((one, other) => (`${one.path} ${one.method}` < `${other.path} ${other.method}` ? -1 : 1));
