import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readConfig } from '../../src/platform/config/config.js';
import { openPlatform } from '../../src/platform/platform.js';
import { type Service, startService } from '../../src/service.js';
import { type TestDatabase, testDatabase } from './postgres-for-tests.js';

/** A whole service on a port of its own, over a database of its own. */
export type TestService = Readonly<{
  url: string;
  service: Service;
  database: TestDatabase;
  dataDir: string;
  /** Ends this process's service and starts another over the same data, on the same port. */
  restart(): Promise<void>;
  close(): Promise<void>;
}>;

export async function serviceForTests(environment: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const database = await testDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-test-'));
  const start = async (port: string): Promise<Service> => {
    const config = readConfig({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
      PORT: port,
      JWT_SECRET_KEY: 'a secret for tests that is long enough',
      ENCRYPTION_SECRET_KEY: 'another secret for tests, long enough',
      SEED_DEMO: 'false',
      SHUTDOWN_SECONDS: '2',
      STALE_PRODUCER_SECONDS: '3',
      LOG_LEVEL: 'error',
      ...environment,
    });
    const lost = (error: Error): void => {
      throw error;
    };
    return startService(await openPlatform(config, lost), pino({ level: config.logLevel }));
  };
  let service = await start('0');
  const { port } = new URL(service.url);
  return {
    get service() {
      return service;
    },
    url: `http://127.0.0.1:${port}`,
    database,
    dataDir,
    restart: async () => {
      await service.close();
      service = await start(port);
    },
    close: async () => {
      await service.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
