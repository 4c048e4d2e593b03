import { expect, it } from '@jest/globals';
import { publicIdOf, responseIdIn, responseIdOf } from './response-ids.policy.js';

const TURN = '6f9619ff-8b86-4011-b42d-00c04fc964ff';

it.each([
  ['the first run of a turn', -1, TURN],
  ['a run after a pause at the first frame', 0, `${TURN}-1`],
  ['a run after a pause at a later frame', 7, `${TURN}-8`],
])('%s has an id of its own, which clients send back', (_, after, id) => {
  expect(responseIdOf({ turnId: TURN, after })).toBe(id);
  expect(publicIdOf(id)).toBe(`resp_${id}`);
  expect(responseIdIn(`resp_${id}`)).toBe(id);
});

it.each([
  TURN,
  'resp_',
  'resp_abc',
  `call_${TURN}`,
  `xresp_${TURN}`,
  `resp_${TURN}-`,
  `resp_${TURN}-x`,
  `resp_${TURN}-1234567890`,
  `resp_${'-'.repeat(36)}`,
])('%j is not the id of a response', (text) => expect(responseIdIn(text)).toBeUndefined());
