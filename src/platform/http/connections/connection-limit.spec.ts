import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { CONNECTIONS_MIN, connectionsWithin, limitConnections } from './connection-limit.js';

const MAX = 3;
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('the connections to a server', () => {
  let server: Server;
  /** The open responses, in the order of their requests. */
  let pending: ServerResponse[];
  const clients: Socket[] = [];

  beforeEach(async () => {
    pending = [];
    server = createServer((_, response) => void pending.push(response));
    limitConnections(server, MAX);
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    server.close();
  });

  /** A client whose connection the server has accepted. */
  async function connected(): Promise<Socket> {
    const accepted = once(server, 'connection');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    clients.push(client);
    client.on('error', () => undefined).resume();
    await accepted;
    return client;
  }

  /** Sends a request of the client and waits until the server has received it. */
  async function asking(client: Socket): Promise<Socket> {
    const asked = once(server, 'request');
    client.write(REQUEST);
    await asked;
    return client;
  }

  const answered = async (client: Socket, response: ServerResponse): Promise<void> => {
    const read = once(client, 'data');
    response.end('done');
    await read;
  };
  const isClosed = (client: Socket): Promise<unknown> => (client.closed ? Promise.resolve() : once(client, 'close'));
  const open = (): Promise<number> => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

  it('are bounded: the connection that was silent for longest is closed for a new one', async () => {
    const [first, second, third] = [await connected(), await connected(), await connected()];
    const fourth = await connected();
    await isClosed(first);
    await asking(second);
    await asking(fourth);
    expect([second.closed, third.closed, fourth.closed, await open()]).toEqual([false, false, false, MAX]);
  });

  it('are bounded also when they all arrive at once', async () => {
    const many = Array.from({ length: 10 * MAX }, () => connect((server.address() as AddressInfo).port, '127.0.0.1'));
    for (const client of many) client.on('error', () => undefined).resume();
    clients.push(...many);
    const left = () => many.filter(({ closed }) => !closed);
    await eventually(() => left().length === MAX);
    for (const client of left()) await asking(client);
    expect(await open()).toBe(MAX);
  });

  it('are kept while a request is answered, and count as silent from then on', async () => {
    const clients = [];
    for (let count = 0; count < MAX; count++) clients.push(await asking(await connected()));
    await isClosed(await connected());
    expect(clients.map(({ closed }) => closed)).toEqual([false, false, false]);
    await answered(clients[1]!, pending[1]!);
    await answered(clients[0]!, pending[0]!);
    await asking(await connected());
    await isClosed(clients[1]!);
    expect([clients[0]!.closed, await open()]).toEqual([false, MAX]);
    await asking(clients[0]!);
    await isClosed(await connected());
    expect(await open()).toBe(MAX);
  });

  it('are kept until all of several pipelined requests are answered', async () => {
    const client = await connected();
    client.write(REQUEST + REQUEST);
    await eventually(() => pending.length === 2);
    await answered(client, pending[0]!);
    for (let count = 1; count <= MAX; count++) await connected();
    expect(client.closed).toBe(false);
    await answered(client, pending[1]!);
    await connected();
    // It has been silent for the shortest time, so another connection is closed first.
    expect(client.closed).toBe(false);
  });
});

describe('the maximum number of connections', () => {
  const within = (descriptors: number, connectionsMax?: number) =>
    connectionsWithin(descriptors, { connectionsMax, databasePoolMax: 10 });

  it.each([
    [1024, undefined, 443],
    [1_048_576, undefined, 524_219],
    [Infinity, undefined, Infinity],
    [256, undefined, 59],
    [64, undefined, CONNECTIONS_MIN],
    [1024, 100, 100],
    [1024, 800, 800],
    [1024, 5_000, 886],
  ])('for %d descriptors and a setting of %p is %d', (descriptors, wish, expected) => {
    expect(within(descriptors, wish)).toBe(expected);
  });
});
