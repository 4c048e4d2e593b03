import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFull, namesFullDisk } from '../../kernel/full-disk.js';
import { hasNoSpace } from '../free-space.js';
import { systemTiming } from '../system-timing.js';
import { type Cluster, openCluster, urlOf } from './cluster.js';
import { lockDirectory } from './directory-lock.js';
import { binariesFor } from './postgres-binaries.js';
import { Postmaster, PostgresDidNotStart, STOP_TIMEOUT_MS } from './postmaster.js';
import { processesWith } from './process-table.js';
import { type ServerOutage, SupervisedServer } from './supervised-server.js';
import { syncMethodFor } from './sync-method.js';
import { serverUser } from './unix-user.js';

export type EmbeddedPostgres = Readonly<{
  url: string;
  /** The path of its Unix socket; undefined if the path would be too long. */
  socket: string | undefined;
  /** Why the server is not running; undefined while it runs. */
  outage(): EmbeddedOutage | undefined;
  stop(): Promise<void>;
}>;

type EmbeddedOutage = Readonly<{ text: string; isDiskFull: boolean }>;

const LOG_BYTES_MAX = 10 * 1024 * 1024;
/** Another process may take a port before the server binds it. */
const PORTS_TRIED_MAX = 5;
/** The file that holds the port of the last start. */
const PORT_FILE = 'port';
const [UNPRIVILEGED_PORT_MIN, PORT_MAX] = [1_024, 65_535];
const POLL_MS = 50;
/** The file name of the server's socket and of its lock file, without the port. */
const SOCKET = '.s.PGSQL';
/** The system's limit for a socket path is 104 bytes (108 on Linux), including the terminating byte. */
export const SOCKET_PATH_BYTES_MAX = 103;

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'password_encryption=scram-sha-256',
  'max_connections=100',
  'shared_buffers=128MB',
  'max_wal_size=2GB',
  'min_wal_size=256MB',
  'checkpoint_timeout=15min',
  'jit=off',
  'log_line_prefix=%m [%p] ',
  'log_timezone=UTC',
  'timezone=UTC',
];
const DURABLE = ['fsync=on', 'synchronous_commit=on'];
const FOR_TESTS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=on', 'max_connections=300'];

/**
 * Starts an embedded Postgres under `<dataDir>/postgres`, with a generated password. It listens on the local port of the last start
 * if that is free, so that programs beside the service reconnect when the service was restarted. It ends with this process, even
 * after a crash. A server that an earlier owner left running is stopped first. @throws DirectoryInUse,
 * NoEmbeddedPostgres
 */
export async function startEmbeddedPostgres(options: { dataDir: string; forTests?: boolean }): Promise<EmbeddedPostgres> {
  const root = join(resolve(options.dataDir), 'postgres');
  mkdirSync(root, { recursive: true, mode: 0o755 });
  const lock = await lockDirectory(join(root, 'owner'));
  try {
    const name = clusterName(root);
    await clearAway(root, name);
    const user = serverUser(join(root, 'cluster'));
    const binaries = binariesFor(user);
    const cluster = await openCluster({ root, binaries, user, sync: !options.forTests });
    const logFile = join(root, 'server.log');
    const run = (port: number) => {
      limitLog(logFile);
      return Postmaster.start({
        postgres: binaries.postgres,
        user,
        cluster: cluster.directory,
        logFile,
        settings: serverArguments(cluster, name, port, options.forTests === true),
      });
    };
    const portFile = join(root, PORT_FILE);
    const { port, postmaster } = await startOnFreePort(run, portIn(portFile));
    rememberPort(portFile, port);
    // The new server has the same address, so the pools reconnect.
    const again = async () => {
      await clearAway(root, name);
      return run(port);
    };
    const server = new SupervisedServer(postmaster, again, systemTiming);
    return {
      socket: fits(socketIn(root, port)) ? socketIn(root, port) : undefined,
      url: urlOf({ port, password: cluster.password }),
      outage: () => server.outage && outageOf(server.outage, root),
      stop: async () => {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The cluster name, which appears in the server's command line and process titles, so that they can be found. */
const clusterName = (root: string): string =>
  `verbatim-${createHash('sha256').update(realpathSync(root)).digest('hex').slice(0, 16)}`;

/** The socket is in the data folder, which is the server's working directory and not accessible to others. */
const socketIn = (root: string, port: number): string => join(root, 'cluster', `${SOCKET}.${port}`);
const fits = (socket: string): boolean => Buffer.byteLength(socket) <= SOCKET_PATH_BYTES_MAX;

function serverArguments(cluster: Cluster, name: string, port: number, forTests: boolean): string[] {
  const settings = [
    ...SETTINGS,
    ...(forTests ? FOR_TESTS : DURABLE),
    `recovery_init_sync_method=${syncMethodFor(cluster.directory)}`,
    `cluster_name=${name}`,
    `port=${port}`,
    'unix_socket_directories=.',
  ];
  return ['-D', cluster.argument, ...settings.flatMap((setting) => ['-c', setting])];
}

/** Cleans up after an earlier server: ends its processes and removes its pid and lock files, whose pids are stale then. */
async function clearAway(root: string, name: string): Promise<void> {
  await endLeftBehind(name);
  const cluster = join(root, 'cluster');
  const files = existsSync(cluster) ? readdirSync(cluster) : [];
  for (const file of files.filter((each) => each === 'postmaster.pid' || each.startsWith(SOCKET))) rmSync(join(cluster, file));
}

/** Ends running servers of this directory. This process holds the lock, so they have lost their owner. */
async function endLeftBehind(name: string): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    for (const { pid } of processesWith(name)) signalIfThere(pid, signal);
    for (let waited = 0; waited < STOP_TIMEOUT_MS; waited += POLL_MS) {
      if (processesWith(name).length === 0) return;
      await sleep(POLL_MS);
    }
  }
  throw new PostgresDidNotStart(`Processes of an earlier Postgres (${name}) cannot be ended.`);
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The port in the file; undefined if there is none, or if a full disk left the file incomplete. */
function portIn(file: string): number | undefined {
  const port = existsSync(file) ? Number(readFileSync(file, 'utf8')) : NaN;
  return port >= UNPRIVILEGED_PORT_MIN && port <= PORT_MAX ? port : undefined;
}

function rememberPort(file: string, port: number): void {
  try {
    writeFileSync(file, String(port));
  } catch (error) {
    // The server works without it: the next start takes another port.
    if (!isDiskFull(error)) throw error;
  }
}

async function startOnFreePort(
  run: (port: number) => Promise<Postmaster>,
  preferred: number | undefined,
): Promise<{ port: number; postmaster: Postmaster }> {
  for (let attempt = 1; ; attempt++) {
    const port = attempt === 1 && preferred !== undefined ? preferred : await freePort();
    try {
      return { port, postmaster: await run(port) };
    } catch (error) {
      const portWasTaken = error instanceof PostgresDidNotStart && /Address already in use/.test(error.message);
      if (!portWasTaken || attempt === PORTS_TRIED_MAX) throw error;
    }
  }
}

const freePort = (): Promise<number> =>
  new Promise((found, failed) => {
    const server = createServer().once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => found(port));
    });
  });

/** On a full disk the server may be unable to log the reason, so the free space is checked too. */
function outageOf({ reason, quickEnds }: ServerOutage, root: string): EmbeddedOutage {
  const isDiskFull = namesFullDisk(reason) || hasNoSpace(root);
  const space = isDiskFull ? ' There is no space left for its files.' : '';
  const ends = quickEnds === 1 ? 'has ended' : `has ended ${quickEnds} times in a row`;
  return { isDiskFull, text: `The embedded Postgres ${ends} and is started again. ${reason}${space}` };
}

function limitLog(logFile: string): void {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_BYTES_MAX) return;
  rmSync(`${logFile}.1`, { force: true });
  renameSync(logFile, `${logFile}.1`);
}
