import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectionsWithin } from '../../src/platform/http/connections/connection-limit.js';
import { eventually } from '../support/eventually.js';
import { type ScriptedProcess, startScriptedProcess } from '../support/scripted-process.js';

const DESCRIPTORS = 1024;
/** More connections than the process may have open files. */
const SILENT_CLIENTS = 1_100;
/** The number of connections that the asking clients may use for a few requests. */
const ASKING_CLIENTS_MAX = 10;

let dataDir: string;
let running: ScriptedProcess | undefined;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'verbatim-descriptors-'));
  // With the embedded database, whose folder lock the process has to refresh by touching a file. The shutdown time is long,
  // because the machine may be busy.
  const settings = { DATABASE_URL: '', DATA_DIR: dataDir, SHUTDOWN_SECONDS: '60' };
  running = await startScriptedProcess(settings, { descriptorsMax: DESCRIPTORS });
});
afterAll(async () => {
  await running?.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Clients that got a timeout response, which is correct after a minute of silence. */
const timedOut = new Set<Socket>();

async function silentClient(): Promise<Socket> {
  const socket = connect(running!.service.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.on('data', (data) => {
    if (data.includes(' 408 ')) timedOut.add(socket);
  });
  await once(socket, 'connect');
  return socket;
}

it('silent clients neither end the process nor shut others out', async () => {
  const { client, service } = running!;
  const sockets = await Promise.all(Array.from({ length: SILENT_CLIENTS }, silentClient));
  const held = () => sockets.filter(({ closed }) => !closed).length;
  const max = connectionsWithin(DESCRIPTORS, { connectionsMax: undefined, databasePoolMax: 10 });
  await eventually(() => held() <= max, 90_000, 'there are as few connections as there may be');

  const owner = join(dataDir, 'postgres', 'owner');
  const { mtimeMs } = await stat(owner);
  await eventually(async () => (await stat(owner)).mtimeMs > mtimeMs, 90_000, 'the process keeps the folder of its database');
  const { frames } = await client.stream({ question: 'Why?' });
  expect(frames.at(-1)!.data.type).toBe('end');
  // A part may have failed for a moment on a slow machine.
  await eventually(async () => {
    const ready = { status: 'ready', dependencies: { 'file descriptors': { ok: true } } };
    expect(await client.json('/api/ready')).toMatchObject(ready);
    return true;
  });
  // The asking clients displaced only as many silent ones as they needed. On a slow machine others have timed out meanwhile.
  const shed = sockets.filter((socket) => socket.closed && !timedOut.has(socket)).length;
  expect(SILENT_CLIENTS - shed).toBeGreaterThan(max - ASKING_CLIENTS_MAX);

  for (const socket of sockets) socket.destroy();
  const { code } = await service.terminate();
  expect({ code, said: code === 0 ? '' : service.output }).toEqual({ code: 0, said: '' });
  await service.start();
});
