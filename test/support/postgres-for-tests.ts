import { randomUUID } from 'node:crypto';
import postgres, { type Sql } from 'postgres';
import { TYPES } from '../../src/platform/postgres/database.js';

export type TestDatabase = Readonly<{ url: string; sql: Sql; close(): Promise<void> }>;

/** The Postgres server of this test run. Test files create and drop their databases on it. */
function testServerUrl(): string {
  const url = process.env.TEST_POSTGRES_URL;
  if (!url)
    throw new Error('No Postgres for tests: name the file *.int.spec.ts, *.e2e.spec.ts, *.fault.spec.ts or *.nats.spec.ts.');
  return url;
}

/** A database of a service that was started before: all schemas, no data. `close` drops it. */
export const serviceDatabase = (): Promise<TestDatabase> => testDatabase(process.env.TEST_POSTGRES_TEMPLATE);

/** A separate database, empty unless a template is named. `close` drops it. */
export async function testDatabase(template = 'template0'): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  // Copying files costs half as much as copying through the write-ahead log.
  await onServer((sql) => sql.unsafe(`create database ${name} template ${template} strategy file_copy`));
  const url = new URL(testServerUrl());
  url.pathname = `/${name}`;
  const sql = postgres(url.href, {
    max: 10,
    onnotice: () => undefined,
    types: TYPES,
    fetch_types: false,
    connection: { TimeZone: 'UTC' },
  });
  const close = async () => {
    await sql.end({ timeout: 5 });
    await onServer((server) => server.unsafe(`drop database if exists ${name} with (force)`));
  };
  return { url: url.href, sql, close };
}

async function onServer(run: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(testServerUrl(), { max: 1, onnotice: () => undefined });
  try {
    await run(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
