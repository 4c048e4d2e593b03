import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { PostgresCredentialVault } from '../../src/platform/credentials/postgres-credential-vault.js';
import { openDatabase } from '../../src/platform/postgres/database.js';
import { migrate } from '../../src/platform/postgres/migrate.js';
import { IDENTITY_SCHEMA, IDENTITY_STEPS } from '../../src/resources/identity/identity-tables.js';
import { makeSchemas } from './schemas.js';

/** A database with all schemas of the service and no data. It is cloned for each service of a test. */
export type TemplateDatabase = Readonly<{ name: string; drop(): Promise<void> }>;

export async function makeTemplateDatabase(serverUrl: string): Promise<TemplateDatabase> {
  const name = `test_template_${randomUUID().replaceAll('-', '')}`;
  const onServer = async (statement: string): Promise<void> => {
    const sql = postgres(serverUrl, { max: 1, onnotice: () => undefined });
    try {
      await sql.unsafe(statement);
    } finally {
      await sql.end({ timeout: 5 });
    }
  };
  await onServer(`create database ${name} template template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const sql = openDatabase({ url: url.href, name: 'template of tests' });
  try {
    await makeSchemas(sql, url.href);
    await new PostgresCredentialVault(sql, 'seals nothing').start();
    await migrate(sql, IDENTITY_SCHEMA, IDENTITY_STEPS);
  } finally {
    await sql.end({ timeout: 5 });
  }
  return { name, drop: () => onServer(`drop database if exists ${name}`) };
}
