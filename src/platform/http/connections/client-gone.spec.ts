import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { clientGone } from './client-gone.js';

/** The response to a client that is connected, and the client's leaving. */
function response() {
  const socket = new Socket();
  const raw = new ServerResponse(new IncomingMessage(socket));
  raw.assignSocket(socket);
  const leave = async () => {
    const closing = once(raw, 'close');
    socket.destroy();
    await closing;
  };
  return { raw, leave };
}

it('aborts when the client leaves', async () => {
  const { raw, leave } = response();
  const signal = clientGone({ raw });
  expect(signal.aborted).toBe(false);
  await leave();
  expect(signal.aborted).toBe(true);
});

it('is aborted if the client left before', async () => {
  const { raw, leave } = response();
  await leave();
  expect(clientGone({ raw }).aborted).toBe(true);
});
