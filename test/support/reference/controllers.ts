import { type Type, RequestMethod } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  MODULE_METADATA,
  PATH_METADATA,
  REDIRECT_METADATA,
} from '@nestjs/common/constants.js';
import { ApplicationConfig } from '@nestjs/core';
import { type DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ROOMS } from '../../../src/app/rooms.js';
import type { RouteAccess } from '../../../src/kernel/access.js';
import { ROUTE_ACCESS } from '../../../src/platform/http/access.js';

/** A route with what Nest's metadata does not contain. */
export type Route = Readonly<{
  controller: string;
  at: string;
  method: string;
  path: string;
  access: RouteAccess | undefined;
  status: number;
  types: readonly string[];
}>;

const controllers = ROOMS.flatMap((room) => (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, room) ?? []) as readonly Type[]);

/** The metadata key under which Nest stores the content types of a handler's responses. */
const PRODUCES_METADATA = 'swagger/apiProduces';

/** A temporary name of an operation: the index of its controller and the name of its handler. */
const nameOf = (index: number, method: string): string => `${index} ${method}`;

/** Nest's document for the controllers, without starting them. */
export function documentOf(base: DocumentBuilder): OpenAPIObject {
  const documents = controllers.map((metatype, index) => {
    const wrapper = { metatype, instance: Object.create(metatype.prototype as object) as object };
    const module = { controllers: new Map([[metatype, wrapper]]), imports: new Set(), metatype: class {} };
    const container = {
      getModules: () => Object.assign(new Map([['', module]]), { applicationId: '' }),
      isGlobalModule: () => false,
    };
    const app = { container, config: new ApplicationConfig(), getHttpAdapter: () => ({ getType: () => 'fastify' }) };
    return SwaggerModule.createDocument(app as never, base.build(), {
      operationIdFactory: (_, method) => nameOf(index, method),
    });
  });
  return documents.reduce((whole, { paths, components }) => ({
    ...whole,
    paths: mergedPaths(whole.paths, paths),
    components: { ...whole.components, schemas: { ...whole.components?.schemas, ...components?.schemas } },
  }));
}

function mergedPaths(some: OpenAPIObject['paths'], more: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const merged = { ...some };
  for (const [path, item] of Object.entries(more)) merged[path] = { ...merged[path], ...item };
  return merged;
}

/** The route of an operation as `documentOf` names it. */
export function routeOf(operationId: string): Route {
  const [index, method] = operationId.split(' ') as [string, string];
  const controller = controllers[Number(index)]!;
  const handler = (controller.prototype as Record<string, object>)[method]!;
  const verb = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
  const redirect = Reflect.getMetadata(REDIRECT_METADATA, handler) as { statusCode: number } | undefined;
  const code = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  const types = (Reflect.getMetadata(PRODUCES_METADATA, handler) ?? []) as readonly string[];
  return {
    types,
    path: [Reflect.getMetadata(PATH_METADATA, handler) as string].flat()[0]!,
    controller: controller.name,
    at: [Reflect.getMetadata(PATH_METADATA, controller) as string].flat()[0]!,
    method,
    access: Reflect.getMetadata(ROUTE_ACCESS, handler) as RouteAccess | undefined,
    status: redirect?.statusCode ?? code ?? (verb === RequestMethod.POST ? 201 : 200),
  };
}
