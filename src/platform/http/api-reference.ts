import { readFileSync } from 'node:fs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Reads a document that `npm run openapi:dump` has generated, so that the start generates nothing. */
const textOf = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

/**
 * Serves the interactive reference at `/api/docs`, the OpenAPI document at `/api/openapi.json`, and a Swagger 2.0 document at
 * `/swagger.json`.
 */
export function serveApiReference(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/docs', app, () => JSON.parse(textOf('openapi.json')) as OpenAPIObject, { raw: false });
  const fastify = app.getHttpAdapter().getInstance();
  for (const [path, name] of [
    ['/api/openapi.json', 'openapi.json'],
    ['/swagger.json', 'swagger.json'],
  ] as const)
    fastify.get(path, (_, reply) => reply.header('Content-Type', JSON_TYPE).send(textOf(name)));
}
