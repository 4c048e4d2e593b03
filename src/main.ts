import 'reflect-metadata';
import { pino } from 'pino';
import { configOrExit } from './platform/config/load-config.js';
import { openPlatform } from './platform/platform.js';
import { startService } from './service.js';

const config = configOrExit();
const log = pino({ level: config.logLevel });
const fail = (error: unknown): never => {
  log.fatal(error instanceof Error ? error.message : String(error));
  process.exit(1);
};
const platform = await openPlatform(config, fail).catch(fail);
const service = await startService(platform, log).catch(fail);
log.info(`Listening on ${service.url}`);

/** No new work, streams closed with a good cursor, work in hand finished or interrupted; and in any case an end. */
function shutDown(signal: NodeJS.Signals): void {
  log.info(`${signal}: closing.`);
  setTimeout(() => fail('The shutdown took too long.'), config.shutdownMs).unref();
  service.close().then(() => process.exit(0), fail);
}
process.once('SIGTERM', shutDown);
process.once('SIGINT', shutDown);
