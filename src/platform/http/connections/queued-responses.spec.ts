import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { closeQueuedResponses } from './queued-responses.js';

const REQUESTS = 3;

describe('the responses to pipelined requests', () => {
  let server: Server;
  let client: Socket;
  /** In the order of their requests. */
  let responses: ServerResponse[];
  /** How often each of them was closed. */
  let closings: number[];

  beforeEach(async () => {
    [responses, closings] = [[], []];
    server = createServer((_, response) => {
      const place = responses.push(response) - 1;
      closings.push(0);
      response.on('close', () => closings[place]!++);
    });
    closeQueuedResponses(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').resume();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(REQUESTS));
    await eventually(() => responses.length === REQUESTS);
  });
  afterEach(() => {
    client.destroy();
    server.close();
  });

  it('are all closed with their connection, once', async () => {
    client.destroy();
    await eventually(() => closings[0]! > 0);
    expect(closings).toEqual([1, 1, 1]);
    expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
    for (const response of responses) response.end('late');
    await new Promise((resolve) => setImmediate(resolve));
    expect(closings).toEqual([1, 1, 1]);
  });

  it('are closed only when they are sent, while the connection lives', async () => {
    responses[1]!.end('second');
    responses[0]!.end('first');
    await eventually(() => closings[1]! > 0);
    expect([closings, responses[2]!.destroyed]).toEqual([[1, 1, 0], false]);
    client.destroy();
    await eventually(() => closings[2]! > 0);
    expect(closings).toEqual([1, 1, 1]);
  });
});
