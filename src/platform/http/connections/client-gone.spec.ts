import { expect, it } from '@jest/globals';
import { connectedResponse } from '../../../../test/support/connected-response.js';
import { clientGone } from './client-gone.js';

it('aborts when the client leaves', async () => {
  const { raw, leave } = connectedResponse();
  const signal = clientGone({ raw });
  expect(signal.aborted).toBe(false);
  await leave();
  expect(signal.aborted).toBe(true);
});

it('is aborted if the client left before', async () => {
  const { raw, leave } = connectedResponse();
  await leave();
  expect(clientGone({ raw }).aborted).toBe(true);
});
