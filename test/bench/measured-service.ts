import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Traffic } from './programs/postgres-traffic.js';
import type { BenchContext } from './report.js';
import { firstLineOf, stop } from './program.js';
import { type Usage, usageOf, withDescendants } from './usage.js';

/** The compiled service as users run it: a process of its own, over an embedded Postgres with fsync unless it is given one, on fresh data. */
export type MeasuredService = Readonly<{
  url: string;
  /** The database it runs for itself, for baselines on the very same server. */
  databaseUrl: string;
  usage(): Promise<{ service: Usage; postgres: Usage }>;
  /** What it has exchanged with Postgres, where it was started to be counted. */
  traffic(): Promise<Traffic>;
  /** Ends it as `kill -9` does, and starts it again over the same data. Resolves to when it was started. */
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

const COUNTING = ['../support/typescript.js', './programs/postgres-traffic.ts'].flatMap((file) => [
  '--import',
  new URL(file, import.meta.url).href,
]);

export async function startService(
  { service, profileTo }: BenchContext,
  environment: Readonly<Record<string, string>>,
  /** Counts what it exchanges with Postgres, which costs speed. */
  { counted = false } = {},
): Promise<MeasuredService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'verbatim-bench-'));
  const profile = profileTo ? ['--cpu-prof', `--cpu-prof-dir=${profileTo}`] : [];
  const run = () =>
    spawn(process.execPath, ['--enable-source-maps', ...profile, ...(counted ? COUNTING : []), service], {
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
