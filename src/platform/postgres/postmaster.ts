import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { namesFullDisk } from '../../kernel/full-disk.js';
import type { UnixUser } from './unix-user.js';

export type ServerProcess = Readonly<{
  postgres: string;
  user: UnixUser | undefined;
  cluster: string;
  logFile: string;
  settings: readonly string[];
}>;

/** The server did not start. The message has the end of its log; `reason` is short and contains no user data. */
export class PostgresDidNotStart extends Error {
  override readonly name = 'PostgresDidNotStart';
  /** Set as in a file error, because waiting may help. */
  readonly code?: 'ENOSPC';
  constructor(
    message: string,
    readonly reason = message,
  ) {
    super(message);
    if (namesFullDisk(reason)) this.code = 'ENOSPC';
  }
}

/** After a crash the server first replays up to `max_wal_size` of WAL. */
const START_TIMEOUT_MS = 120_000;
/** How long a fast shutdown may take before the server gets an immediate one. */
export const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 10;
const LOG_TAIL_BYTES = 16_384;
const LOG_TAIL_CHARACTERS = 2_000;

/**
 * Runs the server with a watcher process. The watcher reads a pipe whose other end this process holds. When this process closes
 * it or ends in any way, the watcher sends SIGINT to the server, which requests a fast shutdown. The server has its own session,
 * so that it does not receive a Ctrl-C.
 */
const WATCHED = `
exec 3<&0 </dev/null
"$@" 3<&- &
server=$!
( read -r _ <&3; kill -INT "$server" ) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$server"
code=$?
kill "$watcher" 2>/dev/null
exit "$code"
`;

/** The environment of the server programs. Nothing of this process's environment is passed on. */
export const SERVER_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/**
 * The server's user may not be able to enter a parent directory of the cluster. On Linux it can still use its working directory.
 */
export const directoryArgument = (cluster: string, reachable: boolean): string => (reachable ? cluster : '/proc/self/cwd');

export class Postmaster {
  private constructor(
    private readonly child: ChildProcess,
    /** Resolves with the reason when the server has ended in any way. */
    readonly exited: Promise<string>,
  ) {}

  /** Resolves once the server accepts connections. @throws PostgresDidNotStart */
  static async start(server: ServerProcess): Promise<Postmaster> {
    const log = openSync(server.logFile, 'a', 0o600);
    const logStart = fstatSync(log).size;
    const child = spawn('/bin/sh', ['-c', WATCHED, 'verbatim-postgres', server.postgres, ...server.settings], {
      ...server.user,
      cwd: server.cluster,
      env: SERVER_ENVIRONMENT,
      stdio: ['pipe', log, log],
      detached: true,
    });
    closeSync(log);
    child.stdin!.on('error', () => undefined);
    let ended: string | undefined;
    const exited = new Promise<string>((resolve) => {
      const end = (how: string) => {
        ended = reasonOf(how, writtenSince(server.logFile, logStart));
        child.stdin!.destroy();
        resolve(ended);
      };
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(`It ended with ${signal ?? `code ${code}`}.`));
    });
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!isReady(server.cluster)) {
      if (ended === undefined && performance.now() < deadline) await sleep(POLL_MS);
      else {
        child.stdin!.destroy();
        const log = writtenSince(server.logFile, logStart);
        const reason = ended ?? reasonOf('It took too long to start.', log);
        throw new PostgresDidNotStart(
          `Postgres did not start in ${server.cluster}. ${reason}\n${log.slice(-LOG_TAIL_CHARACTERS)}`,
          reason,
        );
      }
    }
    // The child does not keep this process running. The watcher stops the server when this process ends.
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    return new Postmaster(child, exited);
  }

  /** Requests a fast shutdown: open transactions are rolled back and committed data is written to disk. */
  async stop(): Promise<void> {
    this.child.ref();
    this.child.stdin!.destroy();
    if (await endsWithin(this.exited, STOP_TIMEOUT_MS)) return;
    signalGroup(this.child.pid!, 'SIGQUIT');
    if (await endsWithin(this.exited, STOP_TIMEOUT_MS)) return;
    signalGroup(this.child.pid!, 'SIGKILL');
    await this.exited;
  }
}

/** Whether the server is ready, from the last line of its pid file. */
function isReady(cluster: string): boolean {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

/** The end of the log of one run of the server. */
function writtenSince(logFile: string, start: number): string {
  try {
    const from = Math.max(start, statSync(logFile).size - LOG_TAIL_BYTES);
    const bytes = Buffer.alloc(LOG_TAIL_BYTES);
    const log = openSync(logFile, 'r');
    try {
      return bytes.toString('utf8', 0, readSync(log, bytes, 0, LOG_TAIL_BYTES, from));
    } finally {
      closeSync(log);
    }
  } catch {
    return '';
  }
}

/** How the server ended, with its last PANIC or FATAL message. Other levels may quote user data. */
export function reasonOf(how: string, log: string): string {
  const said = (level: string) => [...log.matchAll(new RegExp(`${level}:  (.*)`, 'g'))].at(-1)?.[0].replace(/\s+/g, ' ');
  return [how, said('PANIC') ?? said('FATAL')].filter((each) => each !== undefined).join(' ');
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timeout = new AbortController();
  try {
    const late = sleep(ms, false, { signal: timeout.signal }).catch(() => false);
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timeout.abort();
  }
}
