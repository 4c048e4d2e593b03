import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { projections } from '../projections/catalogue.js';
import { AppModule } from './app.module.js';
import type { Config } from './platform/config/config.js';
import { createHttpApp, type HttpOptions } from './platform/http/http-server.js';
import type { Platform } from './platform/platform.js';

/** A running service. */
export type Service = Readonly<{ app: NestFastifyApplication; url: string; close(): Promise<void> }>;

const httpOptions = (config: Config): HttpOptions => ({
  bodyBytesMax: config.bodyBytesMax,
  uploadRequestBytesMax: config.uploadRequestBytesMax,
  uploadFileBytesMax: config.uploadFileBytesMax,
  uploadFilesMax: config.uploadFilesMax,
  allowedOrigins: config.allowedOrigins,
  shutdownMs: config.shutdownMs,
  readModels: projections.map(({ name }) => name),
});

/** Starts the service over an open platform; closing it ends streams and work first, and the platform last. */
export async function startService(platform: Platform, log: Logger): Promise<Service> {
  const { config } = platform;
  const app = await createHttpApp(AppModule.over(platform, log), httpOptions(config), { logger: ['error', 'warn'] });
  await app.listen(config.port, config.host);
  const close = async () => {
    await app.close();
    await platform.close();
  };
  return { app, url: await app.getUrl(), close };
}
