import { expect, it } from '@jest/globals';
import { connectedResponse } from '../../../test/support/connected-response.js';
import { WaitingReplies } from './waiting-replies.js';

it('ends the waiting of a reply when its client leaves, and forgets it', async () => {
  const waiting = new WaitingReplies();
  const { raw, leave } = connectedResponse();
  const signal = waiting.signalOf({ raw });
  expect([signal.aborted, waiting.size]).toEqual([false, 1]);
  await leave();
  expect([signal.aborted, waiting.size]).toEqual([true, 0]);
});

it('does not wait for a client that left while its question was being accepted', async () => {
  const waiting = new WaitingReplies();
  const { raw, leave } = connectedResponse();
  await leave();
  expect([waiting.signalOf({ raw }).aborted, waiting.size]).toEqual([true, 0]);
});
