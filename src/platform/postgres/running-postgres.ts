import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { urlOf } from './cluster.js';

/** The index of the line in the server's pid file that holds the port. */
const PORT_LINE = 3;

/** The URL of the server that another local process runs on a data directory; undefined if none runs. */
export function runningPostgres(dataDir: string): string | undefined {
  const root = join(resolve(dataDir), 'postgres');
  try {
    const port = readFileSync(join(root, 'cluster', 'postmaster.pid'), 'utf8')
      .split('\n')
      [PORT_LINE]?.trim();
    const password = readFileSync(join(root, 'password'), 'utf8');
    return port ? urlOf({ port, password }) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
