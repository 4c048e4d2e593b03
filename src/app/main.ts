import 'reflect-metadata';
import { Command } from 'commander';
import { setImmediate } from 'node:timers/promises';
import { ConfigInvalid } from '../platform/config/config.js';
import { configOrExit, exitOn } from '../platform/config/load-config.js';
import { requireDescriptors } from '../platform/descriptors.js';
import { logFailure } from '../platform/supervision/failure-log.js';
import { systemTiming } from '../platform/system-timing.js';
import { postponeCompilation } from './late-compilation.js';
import { openPlatform } from './platform.js';
import type { Service } from './service.js';
import { openLog } from '../platform/telemetry/log.js';

new Command('main')
  .description(
    'Starts the service. Its settings are environment variables: .env.example lists them, docs/configuration.md explains them.',
  )
  .parse();

const permitCompilation = postponeCompilation();
const config = configOrExit();
const log = openLog({ level: config.logLevel, format: config.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json') });
const fail = (error: unknown): never => {
  if (error instanceof ConfigInvalid) exitOn(error);
  log.fatal(error instanceof Error ? error.message : String(error));
  process.exit(1);
};
try {
  requireDescriptors();
} catch (error) {
  fail(error);
}
const onOutage = (error: unknown, waitMs: number) =>
  logFailure({ log, timing: systemTiming }, 'warn', { err: error, waitMs }, 'Waiting for an unavailable dependency');
let service: Service | undefined;
let isClosing = false;
// Before anything can wait, because the first process of a container ignores signals without a handler.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => shutDown(signal));
const opening = openPlatform(config, fail, onOutage).catch(fail);
void start();

async function start(): Promise<void> {
  // Loads the rest of the program while Postgres starts: the embedded one is spawned in this turn of the event loop.
  await setImmediate();
  const { checkSettings, startService } = await import('./service.js');
  // Before Postgres answers, and because Nest ends the process at once if a module throws.
  try {
    checkSettings(config);
  } catch (error) {
    fail(error);
  }
  const { DemoSeeding } = await import('../views/demo/demo-seeding.js');
  const { DEMO_KEY } = await import('../views/demo/seed-demo.js');
  service = await startService(await opening, log).catch(fail);
  permitCompilation();
  log.info(`Listening on ${service.url}, the API reference is at ${service.url}/api/docs`);

  if (await service.app.get(DemoSeeding).hasDemo) {
    // Not through the log, which masks keys. The demo key is public.
    process.stdout.write(`\nTry it:\n\n  ${exampleFor(service.url, DEMO_KEY)}\n\n`);
  }
}

/** A shell command that asks the demo agent a question. */
function exampleFor(url: string, key: string): string {
  const question = JSON.stringify({ question: 'What happens to a stream when its producer dies?', api_key: key });
  return `curl -N ${url}/stream -H 'Content-Type: application/json' -d '${question}'`;
}

/**
 * Closes the service: accepts no new work, closes streams between frames, finishes or interrupts running work, and always ends. A
 * service that is still starting has no requests, and its next start continues what it has begun. Further signals change nothing.
 */
function shutDown(signal: NodeJS.Signals): void {
  if (isClosing) return;
  isClosing = true;
  log.info(`${signal}: closing.`);
  if (!service) process.exit(0);
  setTimeout(() => fail('The shutdown took too long.'), config.shutdownMs).unref();
  service.close().then(() => process.exit(0), fail);
}
