import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresEventStore } from '../../src/platform/event-store/postgres/postgres-event-store.js';
import { runningPostgres } from '../../src/platform/postgres/running-postgres.js';
import type { Ground } from './backing.js';

/** Nothing but a folder: the service brings a Postgres of its own, which lives and dies with it. */
export async function onEmbeddedPostgres(): Promise<Ground & Readonly<{ dataDir: string }>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-embedded-'));
  return {
    name: 'embedded Postgres',
    environment: {},
    dataDir,
    store: {
      async *read(...of) {
        yield* await looking(dataDir, (store) => store.read(...of));
      },
      async *readAll(of) {
        yield* await looking(dataDir, (store) => store.readAll(of));
      },
    },
    close: () => rm(dataDir, { recursive: true, force: true }),
  };
}

/** Each look finds the server anew: it has another port whenever it has been started. */
async function looking<T>(dataDir: string, look: (store: PostgresEventStore) => AsyncIterable<T>): Promise<readonly T[]> {
  const url = runningPostgres(dataDir);
  if (!url) throw new Error(`No Postgres runs in ${dataDir}.`);
  const store = new PostgresEventStore({ url, readConnections: 1 });
  const pages: T[] = [];
  try {
    for await (const page of look(store)) pages.push(page);
  } finally {
    await store.close();
  }
  return pages;
}
