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

/** A server that did not come up, with the end of its log; `reason` is short and names nothing that a user has stored. */
export class PostgresDidNotStart extends Error {
  override readonly name = 'PostgresDidNotStart';
  /** As a file error would say it: waiting mends it. */
  readonly code?: 'ENOSPC';
  constructor(
    message: string,
    readonly reason = message,
  ) {
    super(message);
    if (namesFullDisk(reason)) this.code = 'ENOSPC';
  }
}

/** After a crash the server first replays up to `max_wal_size` of its journal. */
const START_TIMEOUT_MS = 120_000;
/** How long a stop may write out what is in memory before the server is told to leave everything as it is. */
export const STOP_TIMEOUT_MS = 10_000;
const POLL_MS = 10;
const LOG_TAIL_BYTES = 16_384;
const LOG_TAIL_CHARACTERS = 2_000;

/**
 * Runs the server and a watcher beside it. The watcher reads our end of a pipe: whether we close it or die in whatever
 * way, it ends, and the server gets SIGINT, its order for a fast shutdown. A session of its own keeps a Ctrl-C meant for us from it.
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

/** The environment of every server program: nothing of ours. */
export const SERVER_ENVIRONMENT = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** The root may own directories on the way to the cluster that the server's user cannot enter; Linux lets it stay in one it was started in. */
export const directoryArgument = (cluster: string, reachable: boolean): string => (reachable ? cluster : '/proc/self/cwd');

export class Postmaster {
  private constructor(
    private readonly child: ChildProcess,
    /** Resolves when the server has ended, however it did, with how and why. */
    readonly exited: Promise<string>,
  ) {}

  /** Resolves once the server takes connections. @throws PostgresDidNotStart */
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
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!isReady(server.cluster)) {
      if (ended === undefined && Date.now() < deadline) await sleep(POLL_MS);
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
    // A process that forgets to stop its server may end all the same; the watcher stops the server then.
    child.unref();
    (child.stdin as unknown as { unref(): void }).unref();
    return new Postmaster(child, exited);
  }

  /** A fast shutdown: open transactions are rolled back, everything committed is written out. */
  async stop(): Promise<void> {
    this.child.ref();
    this.child.stdin!.destroy();
    if (await settlesWithin(this.exited, STOP_TIMEOUT_MS)) return;
    signalGroup(this.child.pid!, 'SIGQUIT');
    if (await settlesWithin(this.exited, STOP_TIMEOUT_MS)) return;
    signalGroup(this.child.pid!, 'SIGKILL');
    await this.exited;
  }
}

/** The server writes its state into the last line of its pid file. */
function isReady(cluster: string): boolean {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return lines[7]?.trim() === 'ready';
  } catch {
    return false;
  }
}

/** The end of what one run of the server has written to its log. */
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

/** How the server ended, and what it said of it. Only these two levels: errors of statements may quote what users have stored. */
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

async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timeout = new AbortController();
  try {
    const late = sleep(ms, false, { signal: timeout.signal }).catch(() => false);
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timeout.abort();
  }
}
