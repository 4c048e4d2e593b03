import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/platform/postgres/database.js';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded-postgres.js';
import { describeSchemas, makeSchemas, SCHEMAS_FILE } from './schemas.js';

// `npm run schema:dump`: writes the schemas that the service creates in a new database, so that reviews show changes.
const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-schema-dump-'));
const server = await startEmbeddedPostgres({ dataDir, forTests: true });
const sql = openDatabase({ url: server.url, name: 'schema dump' });
try {
  await makeSchemas(sql, server.url);
  await writeFile(SCHEMAS_FILE, await describeSchemas(sql));
} finally {
  await sql.end();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
