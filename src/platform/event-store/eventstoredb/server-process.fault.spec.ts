import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, it } from '@jest/globals';

import { StoreUnavailable } from '../../../kernel/event-sourcing/event-store.js';
import { appendSurely } from '../../../../test/support/append-surely.js';
import {
  eventsOf,
  Following,
  ids,
  newCategory,
  newEvents,
  newStream,
  range,
} from '../../../../test/contracts/event-store.subject.js';
import { writeSurely } from '../../../../test/support/eventstoredb-double/on-double.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';

const PROGRAM = fileURLToPath(new URL('../../../../test/support/eventstoredb-double/run.mjs', import.meta.url));

let folder: string;
let server: ChildProcess;
let port: number;
let store: EventStoreDbEventStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eventstoredb-'));
  await start(0);
  store = new EventStoreDbEventStore({
    connectionString: `esdb://127.0.0.1:${port}?tls=false`,
    // Longer than the pauses of a busy machine.
    appendDeadlineMs: 2_000,
    answerDeadlineMs: 2_000,
  });
});

afterEach(async () => {
  await store.close();
  await kill();
  rmSync(folder, { recursive: true, force: true });
});

it('loses and repeats no event when the server is killed and restarted several times under load', async () => {
  const category = newCategory();
  const streams = range(1, 5).map(() => newStream(category));
  const log = new Following(store, -1n, { categories: [category] });
  const writing = Promise.all(streams.map((stream) => writeSurely(store, stream, 60)));
  for (const _ of range(1, 3)) {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await kill();
    await start(port);
  }
  const written = await writing;
  await log.count(300);
  await log.stop();
  for (const [index, stream] of streams.entries()) {
    expect(ids(log.events.filter((event) => event.stream === stream))).toEqual(written[index]);
    expect(ids(await eventsOf(store.read(stream)))).toEqual(written[index]);
  }
});

it('fails at the deadline while the server is suspended and continues when it runs again', async () => {
  const category = newCategory();
  const stream = newStream(category);
  await appendSurely(store, stream, 'none', newEvents(1));
  const following = await new Following(store, -1n, { categories: [category] }).count(1);
  const batch = newEvents(1);
  server.kill('SIGSTOP');
  await expect(store.append(stream, 0, batch)).rejects.toBeInstanceOf(StoreUnavailable);
  await expect(eventsOf(store.read(stream))).rejects.toBeInstanceOf(StoreUnavailable);
  server.kill('SIGCONT');
  expect(await appendSurely(store, stream, 0, batch)).toMatchObject({ revision: 1 });
  await following.count(2);
  expect(ids((await following.stop()).events.slice(1))).toEqual(ids(batch));
});

async function start(wanted: number): Promise<void> {
  server = spawn(process.execPath, [PROGRAM, '--port', String(wanted), '--persist', join(folder, 'log')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { stdout } = server;
  port = await new Promise<number>((resolve, reject) => {
    let text = '';
    stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const said = /^LISTENING (\d+)$/m.exec(text);
      if (said) resolve(Number(said[1]));
    });
    server.once('exit', (code) => reject(new Error(`The double ended with ${code}.`)));
  });
}

async function kill(): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGKILL');
  await gone;
}
