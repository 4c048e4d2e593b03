import { expect, it } from '@jest/globals';
import { LastWrites } from './last-writes.js';

it('the last write of each caller is remembered, and of too many the oldest is forgotten', () => {
  const writes = new LastWrites();
  for (let caller = 0; caller <= 10_000; caller++) writes.note(`caller ${caller}`, BigInt(caller));
  expect([writes.of('caller 0'), writes.of('caller 1'), writes.of('caller 10000')]).toEqual([undefined, 1n, 10_000n]);
});

it('a write that is told late does not go back', () => {
  const writes = new LastWrites();
  for (const position of [2n, 1n, undefined]) writes.note('alice', position);
  expect(writes.of('alice')).toBe(2n);
});
