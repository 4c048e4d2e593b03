import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { endStalledBodies } from './stalled-bodies.js';

const STALL_MS = 40;

it('closes a connection whose body stalls, and keeps one that waits for its response', async () => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => setTimeout(() => response.end('done'), 5 * STALL_MS));
  });
  endStalledBodies(server, STALL_MS);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const send = (text: string) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(text);
    return socket;
  };
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\n';
  const stalled = send(`${head}ab`);
  stalled.on('error', () => undefined);
  const [answer] = (await once(send(`${head}abcd`), 'data')) as [string];
  expect(answer).toContain('200 OK');
  if (!stalled.closed) await once(stalled, 'close');
  server.close();
});

it('forgets a request as soon as it is closed', async () => {
  const server = new EventEmitter();
  endStalledBodies(server as Server, STALL_MS);
  let looks = 0;
  const socket = {
    get bytesRead(): number {
      return looks++;
    },
  };
  const request = Object.assign(new EventEmitter(), { headers: { 'content-length': '4' }, complete: false, socket });
  server.emit('request', request);
  request.emit('close');
  const looksBefore = looks;
  await new Promise((resolve) => setTimeout(resolve, 2 * STALL_MS));
  server.emit('close');
  expect(looks).toBe(looksBefore);
});
