import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { WaitingReplies } from './waiting-replies.js';

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

it('ends the waiting of a reply when its client leaves, and forgets it', async () => {
  const waiting = new WaitingReplies();
  const { raw, leave } = response();
  const signal = waiting.signalOf({ raw });
  expect([signal.aborted, waiting.size]).toEqual([false, 1]);
  await leave();
  expect([signal.aborted, waiting.size]).toEqual([true, 0]);
});

it('does not wait for a client that left while its question was being accepted', async () => {
  const waiting = new WaitingReplies();
  const { raw, leave } = response();
  await leave();
  expect([waiting.signalOf({ raw }).aborted, waiting.size]).toEqual([true, 0]);
});
