import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { runningPostgres } from '../../src/platform/postgres/running-postgres.js';
import type { Ground } from './backing.js';

/** Only a data folder: the service runs its own Postgres, which ends with it. */
export async function onEmbeddedPostgres(): Promise<Ground & Readonly<{ dataDir: string }>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-embedded-'));
  const looks = new Looks(dataDir);
  return {
    name: 'embedded Postgres',
    environment: {},
    dataDir,
    store: {
      read: (...of) => looks.now().read(...of),
      readAll: (of) => looks.now().readAll(of),
    },
    close: async () => {
      await looks.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Reads the log from outside. The server has another port after each start, so its URL is looked up again. */
class Looks {
  private found: { url: string; store: PostgresEventStore } | undefined;

  constructor(private readonly dataDir: string) {}

  now(): PostgresEventStore {
    const url = runningPostgres(this.dataDir);
    if (!url) throw new Error(`No Postgres runs in ${this.dataDir}.`);
    if (this.found?.url !== url) {
      void this.close();
      this.found = { url, store: new PostgresEventStore({ url, readConnections: 2 }) };
    }
    return this.found.store;
  }

  async close(): Promise<void> {
    await this.found?.store.close();
  }
}
