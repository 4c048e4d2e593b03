import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Traffic } from './programs/postgres-traffic.js';
import type { BenchContext } from './report.js';
import { firstLineOf, stop } from './program.js';
import { type Usage, usageOf, withDescendants } from './usage.js';

/**
 * The compiled service as users run it: a separate process with fresh data, over an embedded Postgres with fsync unless another
 * is given.
 */
export type MeasuredService = Readonly<{
  url: string;
  /** The URL of its own database, for baselines on the same server. */
  databaseUrl: string;
  usage(): Promise<{ service: Usage; postgres: Usage }>;
  /** Its traffic with Postgres. Only if it was started with `counted`. */
  traffic(): Promise<Traffic>;
  /** Kills it like `kill -9` and starts it again with the same data. Resolves with the time of the start. */
  restart(): Promise<number>;
  stop(): Promise<void>;
}>;

const SETTINGS = {
  PORT: '0',
  HOST: '127.0.0.1',
  NODE_ENV: 'production',
  SEED_DEMO: 'false',
  LOG_LEVEL: 'info',
  LOG_FORMAT: 'json',
  JWT_SECRET_KEY: 'a secret for benches that is long enough',
  ENCRYPTION_SECRET_KEY: 'another secret for benches, long enough',
  MODEL_IDS: 'paced',
};

/** The options that `npm start` gives to Node. */
const NODE_OPTIONS = /"start": "node (.*) build\.js/
  .exec(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))![1]!
  .split(' ');

const COUNTING = ['../support/typescript.js', './programs/postgres-traffic.ts'].flatMap((file) => [
  '--import',
  new URL(file, import.meta.url).href,
]);

export async function startService(
  { service, profileTo }: BenchContext,
  environment: Readonly<Record<string, string>>,
  /** Counts its traffic with Postgres, which makes it slower. */
  { counted = false } = {},
): Promise<MeasuredService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-bench-'));
  const profile = profileTo ? ['--cpu-prof', `--cpu-prof-dir=${profileTo}`] : [];
  const run = () =>
    spawn(process.execPath, [...NODE_OPTIONS, ...profile, ...(counted ? COUNTING : []), service], {
      env: { PATH: process.env['PATH'], ...SETTINGS, DATA_DIR: dataDir, ...environment },
      stdio: ['ignore', 'pipe', 'inherit', ...(counted ? ['ipc' as const] : [])],
    });
  let child = run();
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const listening = () => firstLineOf(child, /(http:\/\/127\.0\.0\.1:\d+)/);
  let url = await listening();
  const ownDatabaseUrl = async () => environment['DATABASE_URL'] ?? (await databaseUrlIn(join(dataDir, 'postgres')));
  let databaseUrl = await ownDatabaseUrl();
  const usage = async () => {
    const [own, ...descendants] = await withDescendants(child.pid!);
    return { service: await usageOf([own!]), postgres: await usageOf(descendants) };
  };
  const traffic = async () => {
    const answered = once(child, 'message') as Promise<[Traffic]>;
    child.send({});
    return (await answered)[0];
  };
  const restart = async () => {
    await stop(child, 'SIGKILL');
    const since = performance.now();
    child = run();
    url = await listening();
    databaseUrl = await ownDatabaseUrl();
    return since;
  };
  return {
    get url() {
      return url;
    },
    get databaseUrl() {
      return databaseUrl;
    },
    usage,
    traffic,
    restart,
    stop: async () => {
      await stop(child, 'SIGTERM');
      process.removeListener('exit', endWithUs);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function databaseUrlIn(root: string): Promise<string> {
  const password = (await readFile(join(root, 'password'), 'utf8')).trim();
  const port = (await readFile(join(root, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[3]!;
  return `postgres://verbatim:${password}@127.0.0.1:${port}/verbatim`;
}
