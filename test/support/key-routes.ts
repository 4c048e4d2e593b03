import { CUSTOM_ROUTE_ARGS_METADATA, METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RequestMethod } from '@nestjs/common';
import { type INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { KeyIdentity, KnownCaller, RequestCause, RequestIdentity } from '../../src/resources/identity/identity.http.js';

type Argument = Readonly<{ factory?: unknown }>;

/** Every decorator through which a handler can learn the holder of the request's key. */
class Probe {
  take(@KnownCaller() _k: unknown, @RequestIdentity() _i: unknown, @RequestCause() _r: unknown, @KeyIdentity() _o: unknown) {
    return undefined;
  }
}

const argumentsOf = (controller: object, handler: string): readonly Argument[] =>
  Object.entries((Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, handler) ?? {}) as Record<string, Argument>)
    .filter(([place]) => place.includes(CUSTOM_ROUTE_ARGS_METADATA))
    .map(([, argument]) => argument);

/** The routes of an application whose handlers ask for a key's holder, as `GET /path`, sorted. */
export function routesThatTakeKeys(app: INestApplication): readonly string[] {
  const asking = new Set(argumentsOf(Probe, 'take').map(({ factory }) => factory));
  const modules = [...app.get(ModulesContainer).values()];
  const controllers = new Set(modules.flatMap((module) => [...module.controllers.values()].map(({ metatype }) => metatype)));
  const routes = [...controllers].flatMap((controller) => {
    const { prototype } = controller as unknown as { prototype: Record<string, object> };
    return Object.getOwnPropertyNames(prototype)
      .filter((handler) => argumentsOf(controller as object, handler).some(({ factory }) => asking.has(factory)))
      .map((handler) => {
        const path = [controller, prototype[handler]].map((each) => String(Reflect.getMetadata(PATH_METADATA, each as object)));
        const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, prototype[handler]!) as number];
        return `${method} /${path.flatMap((part) => part.split('/').filter(Boolean)).join('/')}`;
      });
  });
  return routes.sort();
}
