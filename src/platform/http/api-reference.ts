import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';

/** The interactive reference at `/api/docs`, its document at `/api/openapi.json`. */
export function serveApiReference(app: NestFastifyApplication, version: string): void {
  const description = new DocumentBuilder()
    .setTitle('Verbatim')
    .setDescription('Asks agents, streams their answers and replays them byte for byte.')
    .setVersion(version)
    .addBearerAuth()
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'agent-key')
    .build();
  const document = () => SwaggerModule.createDocument(app, description);
  SwaggerModule.setup('api/docs', app, document, { jsonDocumentUrl: 'api/openapi.json' });
}
