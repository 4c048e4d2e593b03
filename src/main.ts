import 'reflect-metadata';
import { pino } from 'pino';
import { loadConfig } from './platform/config/load-config.js';
import { openPlatform } from './platform/platform.js';
import { startService } from './service.js';

const config = loadConfig();
const log = pino({ level: config.logLevel });
const fail = (error: Error): never => {
  log.fatal(error.message);
  process.exit(1);
};
const platform = await openPlatform(config, fail);
const service = await startService(platform, log);
log.info(`Listening on ${service.url}`);
