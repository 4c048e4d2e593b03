import { readFileSync } from 'node:fs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The two documents are made of the sources (`npm run openapi:dump`), so that nothing is made of them when the service starts. */
const textOf = (name: string): string => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

/**
 * The interactive reference at `/api/docs`, its document at `/api/openapi.json`, and the same for programs that read Swagger 2.0 at
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
