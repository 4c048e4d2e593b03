import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { append, opened } from '../../test/support/accounts.js';
import { type Backing, onEmptyPostgres, onEventStoreDb } from '../../test/support/backing.js';
import { eventually } from '../../test/support/eventually.js';
import { freePort } from '../../test/support/free-port.js';
import { type TestDatabase, testDatabase } from '../../test/support/postgres-for-tests.js';
import { LOG_FORMAT_STREAM } from '../kernel/event-sourcing/log-format.events.js';
import { StoreUnavailable } from '../kernel/event-sourcing/event-store.js';
import { readConfig } from '../platform/config/config.js';
import { PostgresEventStore } from '../platform/event-store/postgres/postgres-event-store.js';
import { createReactionTables } from '../platform/reactions/reaction-tables.js';
import { openPlatform } from './platform.js';

/** A proxy to the same server. Its port refuses connections before `open`. */
class Elsewhere {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(
    readonly port: number,
    { hostname, port: targetPort }: URL,
  ) {
    this.server = createServer((socket) => {
      const onward = connect(Number(targetPort), hostname);
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        this.sockets.add(one);
        one.on('error', () => other.destroy()).pipe(other);
      }
    });
  }

  async open(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

describe('opening the platform', () => {
  let database: TestDatabase;
  let dataDir: string;
  beforeAll(async () => {
    [database, dataDir] = await Promise.all([testDatabase(), mkdtemp(join(tmpdir(), 'verbatim-platform-'))]);
  });
  afterAll(async () => {
    await database.close();
    await rm(dataDir, { recursive: true });
  });

  const config = (url: URL) =>
    readConfig({ DATABASE_URL: url.href, DATA_DIR: dataDir, ENCRYPTION_SECRET_KEY: 'a secret for tests, long enough' });
  const noneIsLost = (error: Error) => {
    throw error;
  };

  it('waits until Postgres answers and reports each failed attempt', async () => {
    const url = new URL(database.url);
    const elsewhere = new Elsewhere(await freePort(), url);
    url.port = String(elsewhere.port);
    const outages: unknown[] = [];
    const platform = await openPlatform(config(url), noneIsLost, (error) => {
      outages.push((error as { code: unknown }).code);
      if (outages.length === 2) void elsewhere.open();
    });
    expect(outages.slice(0, 2)).toEqual(['ECONNREFUSED', 'ECONNREFUSED']);
    expect(await platform.store.lastRevision(LOG_FORMAT_STREAM)).toBe(0);
    await platform.close();
    await elsewhere.close();
  });

  it('reports a Postgres that has become read-only, because it can store no question', async () => {
    const { checks, close } = await openPlatform(config(new URL(database.url)), noneIsLost);
    const name = new URL(database.url).pathname.slice(1);
    const becomes = async (change: string) => {
      await database.sql.unsafe(`alter database ${name} ${change}`);
      await database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'read models'`;
    };
    const check = () => checks['postgres']!().then(() => 'ok', String);
    expect(await check()).toBe('ok');
    await becomes('set default_transaction_read_only = on');
    await eventually(async () => (await check()).includes('It is read-only'));
    await becomes('reset default_transaction_read_only');
    await eventually(async () => (await check()) === 'ok');
    await close();
  });

  it('fails at once where the database does not exist', async () => {
    const url = new URL(database.url);
    url.pathname = '/no_such_database';
    const outages: unknown[] = [];
    await expect(openPlatform(config(url), noneIsLost, (error) => void outages.push(error))).rejects.toThrow('no_such_database');
    expect(outages).toEqual([]);
  });
});

describe('the log that the platform opens', () => {
  const lost = (error: Error) => {
    throw error;
  };

  it.each([
    ['Postgres', onEmptyPostgres, /^The log in the database \w+ at .* set DATABASE_URL to another database, or start/],
    ['EventStoreDB', onEventStoreDb, /^The log in the event store at .* set EVENT_STORE to another server and DATABASE_URL to/],
  ] as const)(
    'in %s is opened where it declares its format and refused where a version before 0.2.0 wrote it',
    async (...given) => {
      const [, makeBacking, refusal] = given;
      const [older, own, dataDir] = await Promise.all([makeBacking(), makeBacking(), mkdtemp(join(tmpdir(), 'verbatim-log-'))]);
      const settings = { DATA_DIR: dataDir, ENCRYPTION_SECRET_KEY: 'a secret for tests, long enough' };
      const open = ({ environment }: Backing) => openPlatform(readConfig({ ...environment, ...settings }), lost);
      if (older.store instanceof PostgresEventStore) await older.store.start();
      await append(older.store, 'account-1', opened('1'));
      const refused = await open(older).catch((error: Error) => error.message);
      expect(refused).toMatch(refusal);
      expect(refused).toContain(
        'was written by a version before 0.2.0, or its first event was changed or removed, and version 0.2.0 cannot read it',
      );
      for (let start = 0; start < 2; start++) await (await open(own)).close();
      expect(await own.store.lastRevision(LOG_FORMAT_STREAM)).toBe(0);
      await Promise.all([older.close(), own.close(), rm(dataDir, { recursive: true })]);
    },
  );

  it.each([
    ['Postgres', onEmptyPostgres],
    ['EventStoreDB', onEventStoreDb],
  ] as const)('in %s takes no append where another process had followed it further', async (_, makeBacking) => {
    const [backing, dataDir] = await Promise.all([makeBacking(), mkdtemp(join(tmpdir(), 'verbatim-log-'))]);
    const settings = { DATA_DIR: dataDir, ENCRYPTION_SECRET_KEY: 'a secret for tests, long enough' };
    const { sql } = backing.database;
    await createReactionTables(sql);
    await sql`insert into reactions.reaction_checkpoint (reaction, position, epoch) values ('publish', 1000000, 0)`;
    const { store, close } = await openPlatform(readConfig({ ...backing.environment, ...settings }), lost);
    await expect(append(store, 'account-1', opened('1'))).rejects.toBeInstanceOf(StoreUnavailable);
    await sql`delete from reactions.reaction_checkpoint`;
    await append(store, 'account-1', opened('1'));
    await close();
    await Promise.all([backing.close(), rm(dataDir, { recursive: true })]);
  });
});
