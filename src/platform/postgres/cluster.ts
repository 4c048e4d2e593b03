import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Binaries, NoEmbeddedPostgres } from './postgres-binaries.js';
import { directoryArgument, SERVER_ENVIRONMENT } from './postmaster.js';
import { syncMethodFor } from './sync-method.js';
import { isReachableBy, type UnixUser } from './unix-user.js';

/** The name of the database and of the role that owns it. */
const DATABASE = 'verbatim';

/** The details of an error of a session contain rows, and so client data. What the server logs about itself keeps them. */
const SESSION_OPTIONS = '-c log_error_verbosity=terse';

export const urlOf = ({ port, password }: Readonly<{ port: number | string; password: string }>): string =>
  `postgres://${DATABASE}:${password}@127.0.0.1:${port}/${DATABASE}?options=${encodeURIComponent(SESSION_OPTIONS)}`;

const CREATION_TIMEOUT_MS = 120_000;

/** Accepts connections only with the password and only from this machine. */
const HOST_BASED_AUTHENTICATION = ['host all all 127.0.0.1/32 scram-sha-256', 'local all all scram-sha-256', ''].join('\n');

/**
 * SCRAM iterations slow down password guessing. With 192 random bits guessing is impossible, and each connection pays for them.
 */
const ITERATIONS = 1;

export type Cluster = Readonly<{ directory: string; argument: string; password: string }>;

type Place = Readonly<{ root: string; binaries: Binaries; user: UnixUser | undefined; sync: boolean }>;

/** Opens the data files under a root. The first start creates them atomically. */
export async function openCluster(place: Place): Promise<Cluster> {
  const { root, binaries, user } = place;
  const directory = join(root, 'cluster');
  if (!existsSync(directory)) await create(place, directory);
  const major = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim();
  if (major !== binaries.major) {
    throw new NoEmbeddedPostgres(
      `${directory} was written by Postgres ${major}, this is ${binaries.major}: move it with pg_dump, or start afresh.`,
    );
  }
  const owner = statSync(directory).uid;
  if (!user && process.getuid && owner !== process.getuid()) {
    throw new NoEmbeddedPostgres(
      `${directory} belongs to user ${owner}: start this service as that user (or as root), or give it another DATA_DIR.`,
    );
  }
  writeFileSync(join(directory, 'pg_hba.conf'), HOST_BASED_AUTHENTICATION);
  return { directory, argument: argumentFor(directory, user), password: await passwordOf(place, directory) };
}

async function create(place: Place, directory: string): Promise<void> {
  const { binaries, user, sync } = place;
  const draft = `${directory}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  if (user) chownSync(draft, user.uid, user.gid);
  const options = ['-D', argumentFor(draft, user), '-U', DATABASE, '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  await run(place, draft, binaries.initdb, [...options, sync ? `--sync-method=${syncMethodFor(draft)}` : '--no-sync']);
  await setPassword(place, draft, `create database ${DATABASE};\n`);
  renameSync(draft, directory);
}

const passwordFile = ({ root }: Place): string => join(root, 'password');

async function passwordOf(place: Place, directory: string): Promise<string> {
  // A full disk may have left an empty file.
  const isKept = (statSync(passwordFile(place), { throwIfNoEntry: false })?.size ?? 0) > 0;
  if (!isKept) await setPassword(place, directory);
  return readFileSync(passwordFile(place), 'utf8');
}

/** Sets a password by the server in single-user mode, which reads standard input, so that no command line shows the password. */
async function setPassword(place: Place, directory: string, more = ''): Promise<void> {
  const password = randomBytes(24).toString('base64url');
  const data = ['-D', argumentFor(directory, place.user), ...(place.sync ? [] : ['-F'])];
  const options = ['--single', ...data, '-c', `scram_iterations=${ITERATIONS}`, 'template1'];
  await run(place, directory, place.binaries.postgres, options, `alter role ${DATABASE} password '${password}';\n${more}`);
  writeFileSync(passwordFile(place), password, { mode: 0o600 });
}

const argumentFor = (directory: string, user: UnixUser | undefined): string =>
  directoryArgument(directory, !user || isReachableBy(user, directory));

async function run(place: Place, cwd: string, program: string, args: readonly string[], input = ''): Promise<void> {
  const child = spawn(program, args, {
    ...place.user,
    cwd,
    env: SERVER_ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'pipe'],
    timeout: CREATION_TIMEOUT_MS,
  });
  // A program that has ended does not read its input. Its output is reported below.
  child.stdin.on('error', () => undefined).end(input);
  const [status, stderr] = await Promise.all([ended(child), text(child.stderr)]).catch((cause: Error) => {
    throw new NoEmbeddedPostgres(`${program} failed: ${cause.message}`, { cause });
  });
  // In single-user mode the server reports a failed statement and continues.
  if (status !== 0 || /^(ERROR|FATAL)|(ERROR|FATAL): /m.test(stderr))
    throw new NoEmbeddedPostgres(`${program} failed: ${stderr}`);
}

/** The exit status of a process; `null` if a signal ended it. */
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
