import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileAll, compiledPath } from './compiled-file.js';

const PREFIX = 'verbatim-test-postgres-';
/** A file system in memory, on which a database is cloned in a tenth of the time. Containers often have too little of it. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;

/**
 * Starts one Postgres for the whole run, or uses the one that TEST_DATABASE_URL names. jest calls this once, even for several
 * projects.
 */
export default async function startPostgresForTests() {
  await compileAll();
  const given = process.env.TEST_DATABASE_URL;
  if (given) {
    refuseUnlessForTests(given);
    process.env.TEST_POSTGRES_URL = given;
    await makeTemplate();
    return;
  }
  sweepDirectoriesOfDeadRuns();
  const { startEmbeddedPostgres } = await loaded('../../src/platform/postgres/embedded-postgres.ts');
  const dataDir = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), `${PREFIX}${process.pid}-`));
  const server = await startEmbeddedPostgres({ dataDir, forTests: true });
  process.env.TEST_POSTGRES_URL = server.url;
  await makeTemplate();
  globalThis.stopPostgresForTests = async () => {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

const loaded = (file) => import(pathToFileURL(compiledPath(fileURLToPath(new URL(file, import.meta.url)))).href);

/** Makes the template database. Services of tests start on a clone of it, as if they had been started there before. */
async function makeTemplate() {
  await import('reflect-metadata');
  const { makeTemplateDatabase } = await loaded('./template-database.ts');
  const template = await makeTemplateDatabase(process.env.TEST_POSTGRES_URL);
  process.env.TEST_POSTGRES_TEMPLATE = template.name;
  globalThis.dropTemplateDatabase = template.drop;
}

function refuseUnlessForTests(url) {
  const database = new URL(url).pathname.slice(1);
  if (!database.includes('test'))
    throw new Error(`TEST_DATABASE_URL names the database "${database}": its name must contain "test".`);
}

/** Removes the folders of earlier runs. A killed run ends its server but leaves the files. */
function sweepDirectoriesOfDeadRuns() {
  for (const folder of [tmpdir(), ...(hasRoom(MEMORY, 0) ? [MEMORY] : [])]) {
    for (const name of readdirSync(folder).filter((entry) => entry.startsWith(PREFIX))) {
      const pid = Number(name.slice(PREFIX.length).split('-')[0]);
      if (!isAlive(pid)) rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

function hasRoom(folder, bytes = MEMORY_BYTES_MIN) {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= bytes;
  } catch {
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}
