import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// A process that owns an embedded Postgres until it is killed: node embedded-postgres.owner.js <sources> <data directory>
const [, , sources, dataDir] = process.argv;
const { startEmbeddedPostgres } = await import(pathToFileURL(join(sources, 'embedded-postgres.ts')).href);
try {
  const { url } = await startEmbeddedPostgres({ dataDir, forTests: true });
  process.stdout.write(`${JSON.stringify({ url })}\n`);
  setInterval(() => undefined, 60_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ refused: error.name, message: error.message })}\n`);
}
