import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { readConfig } from '../../src/platform/config/config.js';
import { openPlatform } from '../../src/app/platform.js';
import { type Service, startService } from '../../src/app/service.js';
import { type Backing, type MakeBacking, onPostgres } from './backing.js';
import { freePort } from './free-port.js';
import type { TestDatabase } from './postgres-for-tests.js';

/** A whole service on its own port, with its own data. */
export type TestService = Readonly<{
  url: string;
  service: Service;
  backing: Backing;
  database: TestDatabase;
  dataDir: string;
  /** Stops the service and starts another with the same data and port. Settings may change. */
  restart(changes?: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}>;

/** Settings for services of tests: fixed secrets, limits that tests can reach, and timeouts that tolerate a stalled machine. */
export const TEST_SETTINGS = {
  JWT_SECRET_KEY: 'a secret for tests that is long enough',
  ENCRYPTION_SECRET_KEY: 'another secret for tests, long enough',
  SEED_DEMO: 'false',
  SHUTDOWN_SECONDS: '2',
  STALE_PRODUCER_SECONDS: '3',
  EVENT_STORE_DEADLINE_SECONDS: '30',
  NATS_DEADLINE_SECONDS: '30',
  FRESHNESS_WAIT_SECONDS: '60',
  // A few connections are enough for a test, and each costs the server as much as many statements.
  DATABASE_POOL_MAX: '6',
  LOG_LEVEL: 'error',
} as const;

/** The default deadlines, for stories about exceeding them. */
export const USUAL_DEADLINES = { EVENT_STORE_DEADLINE_SECONDS: '5', NATS_DEADLINE_SECONDS: '2' } as const;

export async function serviceForTests(
  environment: Readonly<Record<string, string>> = {},
  makeBacking: MakeBacking = onPostgres,
  log?: Logger,
): Promise<TestService> {
  const backing = await makeBacking();
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-test-'));
  const settings = { ...backing.environment, DATA_DIR: dataDir, ...TEST_SETTINGS, ...environment };
  const start = async (changes: Readonly<Record<string, string>>): Promise<Service> => {
    const config = readConfig({ ...settings, ...changes });
    const lost = (error: Error): void => {
      throw error;
    };
    return startService(await openPlatform(config, lost), log ?? pino({ level: config.logLevel }));
  };
  // The port stays the same after each restart.
  const port = String(await freePort());
  let service = await start({ PORT: port });
  return {
    get service() {
      return service;
    },
    url: `http://127.0.0.1:${port}`,
    backing,
    database: backing.database,
    dataDir,
    restart: async (changes = {}) => {
      await service.close();
      service = await start({ ...changes, PORT: port });
    },
    close: async () => {
      await service.close();
      await backing.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
