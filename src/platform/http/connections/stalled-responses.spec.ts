import { EventEmitter, once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { readConfig } from '../../config/config.js';
import { createHttpApp } from '../http-server.js';
import { endStalledResponses } from './stalled-responses.js';

const STALL_MS = 100;
/** More than the buffers of a connection hold. */
const MANY_BYTES = 64 * 1024 * 1024;

let server: ReturnType<typeof createServer>;
let answer: (response: ServerResponse) => void;
let client: Socket | undefined;

beforeEach(async () => {
  server = createServer((_, response) => answer(response));
  endStalledResponses(server, STALL_MS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  jest.useRealTimers();
  client?.destroy();
  server.close();
});

const asked = (port = (server.address() as AddressInfo).port, path = '/') => {
  const socket = connect(port, '127.0.0.1');
  client = socket;
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  return socket;
};
const stream = (response: ServerResponse) =>
  Readable.from(
    (function* () {
      for (let sent = 0; sent < MANY_BYTES; sent += 65_536) yield Buffer.alloc(65_536);
    })(),
  ).pipe(response);
it.each([
  ['streamed', stream],
  ['whole', (response: ServerResponse) => response.end(Buffer.alloc(MANY_BYTES))],
])('closes a %s response whose client reads nothing', async (_, send) => {
  const closed = new Promise((resolve) => {
    answer = (response) => {
      response.once('close', resolve);
      send(response);
    };
  });
  asked().pause();
  await closed;
});

it('keeps a response as long as its client accepts bytes', () => {
  jest.useFakeTimers();
  const fake = new EventEmitter();
  endStalledResponses(fake as Server, STALL_MS);
  let isClosed = false;
  const socket = { bytesWritten: 0, _handle: { writeQueueSize: 100 }, destroy: () => (isClosed = true) };
  const response = Object.assign(new EventEmitter(), { socket, writableLength: 0 });
  fake.emit('request', {}, response);
  for (let left = 99; left > 90; left--) {
    // Bytes that were accepted, and other bytes in their place.
    if (left % 2) socket._handle.writeQueueSize = left;
    else socket.bytesWritten++;
    jest.advanceTimersByTime(STALL_MS - 1);
  }
  expect(isClosed).toBe(false);
  jest.advanceTimersByTime(2 * STALL_MS);
  expect(isClosed).toBe(true);
  fake.emit('close');
});

it('keeps a response that takes long to begin and to go on', async () => {
  const later = (run: () => void) => setTimeout(run, 3 * STALL_MS);
  answer = (response) =>
    later(() => {
      response.write('one');
      later(() => response.end('two'));
    });
  expect(await text(asked())).toContain('two');
});

it('the service ends such a connection after a minute, or after the bound of event streams if that is longer', async () => {
  for (const [sseStallMs, boundMs] of [
    [1_000, 60_000],
    [90_000, 90_000],
  ] as const) {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'setTimeout', 'clearTimeout'] });
    const app = await createHttpApp(class {}, { ...readConfig({}), sseStallMs, readModels: [] }, { logger: false });
    const service = app.getHttpServer();
    const begun = new Promise<ServerResponse>((resolve) => service.once('request', (_, response) => resolve(response)));
    app.getHttpAdapter().get('/large', (_: unknown, reply: FastifyReply) => reply.send(Buffer.alloc(MANY_BYTES)));
    await app.listen(0, '127.0.0.1');
    asked((service.address() as AddressInfo).port, '/large').pause();
    const response = await begun;
    while (response.writableLength === 0) await new Promise((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(boundMs - 1_000);
    expect(response.socket!.destroyed).toBe(false);
    const closed = once(response, 'close');
    jest.advanceTimersByTime(boundMs);
    await closed;
    jest.useRealTimers();
    await app.close();
  }
});
