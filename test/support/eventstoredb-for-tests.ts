import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type DoubleOptions, EventStoreDbDouble } from './eventstoredb-double/event-store-db-double.js';
import { freePort } from './free-port.js';

const CALL_MS_MAX = 180_000;
/** So long the double has no leader, as three real servers that elect another. */
const LEADERLESS_MS = 1_000;

/** An EventStoreDB with an empty log, for one story. */
export type EventStoreDbForTest = Readonly<{
  connectionString: string;
  /** As `kill -9` of all servers, until they come back with all that was acknowledged. Resolve once it is so. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** As `kill -9` of the server that takes the appends. Resolves once appends are taken again and all servers are in sync. */
  loseLeader(): Promise<void>;
  /** Deletes what the bounds of streams hide; the newest event of each stream stays. Resolves once it is done. */
  scavenge(): Promise<void>;
  close(): Promise<void>;
}>;

/**
 * The double, or a real server of its own where TEST_EVENTSTOREDB_COMMAND names a program that runs one: called with
 * `start <port> <folder>` it starts from what is stored there, if anything, and prints the connection string in its last line once
 * the server takes appends; with `kill <port> <folder>` it does what `goAway` says, with `lose-leader <port> <folder>` what
 * `loseLeader` says, with `scavenge <port> <folder>` what `scavenge` says, and with `wipe <port> <folder>` it ends the server and
 * removes what it has stored. A cluster may use the ports after the one given.
 */
export async function eventStoreDbForTest(options: DoubleOptions = {}): Promise<EventStoreDbForTest> {
  const command = process.env['TEST_EVENTSTOREDB_COMMAND'];
  return command === undefined ? theDouble(options) : realServer(command);
}

async function theDouble(options: DoubleOptions): Promise<EventStoreDbForTest> {
  const double = await EventStoreDbDouble.start(options);
  return {
    connectionString: double.connectionString,
    goAway: () => double.crash(),
    comeBack: () => double.listen(),
    loseLeader: async () => {
      await double.crash();
      await pause(LEADERLESS_MS);
      await double.listen();
    },
    scavenge: async () => double.log.scavenge(),
    close: () => double.close(),
  };
}

async function realServer(command: string): Promise<EventStoreDbForTest> {
  const [port, folder] = [String(await freePort()), await mkdtemp(join(tmpdir(), 'verbatim-eventstoredb-'))];
  const call = (verb: string) => promisify(execFile)(command, [verb, port, folder], { timeout: CALL_MS_MAX });
  const { stdout } = await call('start');
  return {
    connectionString: stdout.trim().split('\n').at(-1)!,
    goAway: async () => void (await call('kill')),
    comeBack: async () => void (await call('start')),
    loseLeader: async () => void (await call('lose-leader')),
    scavenge: async () => void (await call('scavenge')),
    close: async () => {
      await call('wipe');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
