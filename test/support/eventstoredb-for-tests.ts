import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EventStoreDbDouble } from './eventstoredb-double/event-store-db-double.js';
import { freePort } from './free-port.js';

const START_MS_MAX = 180_000;

/** An EventStoreDB with an empty log, for one story. */
export type EventStoreDbForTest = Readonly<{ connectionString: string; close(): Promise<void> }>;

/**
 * The double, or a real server of its own where TEST_EVENTSTOREDB_COMMAND names a program that runs one: called with
 * `start <port> <folder>` it prints the connection string in its last line once the server takes appends, and with
 * `wipe <port> <folder>` it ends the server and removes what it has stored. A cluster may use the ports after the one given.
 */
export async function eventStoreDbForTest(): Promise<EventStoreDbForTest> {
  const command = process.env['TEST_EVENTSTOREDB_COMMAND'];
  return command === undefined ? EventStoreDbDouble.start() : realServer(command);
}

async function realServer(command: string): Promise<EventStoreDbForTest> {
  const [port, folder] = [String(await freePort()), await mkdtemp(join(tmpdir(), 'verbatim-eventstoredb-'))];
  const call = (verb: string) => promisify(execFile)(command, [verb, port, folder], { timeout: START_MS_MAX });
  const { stdout } = await call('start');
  return {
    connectionString: stdout.trim().split('\n').at(-1)!,
    close: async () => {
      await call('wipe');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
