import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { projections } from '../../projections/catalogue.js';
import { AppModule } from './app.module.js';
import { serveApiReference } from '../platform/http/api-reference.js';
import { createHttpApp } from '../platform/http/http-server.js';
import { NestLog } from '../platform/telemetry/log.js';
import { observeRequests } from '../platform/telemetry/observe-requests.js';
import { PrometheusMeasurements } from '../platform/telemetry/prometheus-measurements.js';
import { type Config, weaknessesIn } from '../platform/config/config.js';
import type { Platform } from './platform.js';
import { REJECTIONS } from './rejections.js';
import { GuardrailsModule } from '../resources/guardrails/guardrails.module.js';
import { ModelsModule } from '../resources/models/models.module.js';

/** The running service. */
export type Service = Readonly<{ app: NestFastifyApplication; url: string; close(): Promise<void> }>;

/** Checks the settings that the rooms read themselves. @throws ConfigInvalid that names the variable */
export function checkSettings(config: Config): void {
  GuardrailsModule.settingsIn(config);
  ModelsModule.settingsIn(config);
}

/** Starts the service over an open platform. Closing ends streams and work first and the platform last. */
export async function startService(platform: Platform, log: Logger): Promise<Service> {
  const { config } = platform;
  const readModels = projections.map(({ name }) => name);
  const options = { ...config, readModels, rejections: REJECTIONS, isDownForSpace: () => platform.isDownForSpace() };
  const app = await createHttpApp(AppModule.over(platform, log), options, { logger: new NestLog(log) });
  for (const weakness of weaknessesIn(config)) log.warn(weakness);
  void platform.warnings.then((warnings) => warnings.forEach((warning) => log.warn(warning)));
  observeRequests(app.getHttpAdapter().getInstance(), app.get(PrometheusMeasurements));
  serveApiReference(app);
  await app.listen(config.port, config.host).catch((error: unknown) => {
    throw new Error(`The service cannot listen on HOST ${config.host} and PORT ${config.port}: ${reasonOf(error)}.`, {
      cause: error,
    });
  });
  const close = async () => {
    try {
      await app.close();
    } finally {
      await platform.close();
    }
  };
  return { app, url: await app.getUrl(), close };
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return 'another process uses this address';
  return message;
}
