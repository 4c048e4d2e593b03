import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type DoubleOptions, EventStoreDbDouble } from './eventstoredb-double/event-store-db-double.js';
import { freePort } from './free-port.js';

const CALL_MS_MAX = 180_000;
/** How long the double has no leader. Three real servers take about this long to elect another. */
const LEADERLESS_MS = 1_000;

/** An EventStoreDB with an empty log, for one story. */
export type EventStoreDbForTest = Readonly<{
  connectionString: string;
  /** Like `kill -9` of all servers, and their restart with all acknowledged events. Both resolve once they have taken effect. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  /** Like `kill -9` of the leader. Resolves once appends are accepted again and all servers are in sync. */
  loseLeader(): Promise<void>;
  /** Deletes the events that the bounds of streams hide. The newest event of each stream remains. Resolves when done. */
  scavenge(): Promise<void>;
  close(): Promise<void>;
}>;

/**
 * Starts the double, or a real server if TEST_EVENTSTOREDB_COMMAND names a program that runs one. `start <port> <folder>` starts
 * the server from the data in the folder, if any, and prints the connection string as its last line once the server accepts
 * appends. `kill <port> <folder>` does what `goAway` describes, `lose-leader <port> <folder>` what `loseLeader` describes, and
 * `scavenge <port> <folder>` what `scavenge` describes. `wipe <port> <folder>` stops the server and removes its data. A cluster
 * may use the ports after the given one.
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
