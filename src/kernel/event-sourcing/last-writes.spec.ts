import { expect, it } from '@jest/globals';
import { LastWrites } from './last-writes.js';

it('keeps the last write of each caller and evicts the oldest when full', () => {
  const writes = new LastWrites();
  for (let caller = 0; caller <= 10_000; caller++) writes.note(`caller ${caller}`, BigInt(caller));
  expect([writes.of('caller 0'), writes.of('caller 1'), writes.of('caller 10000')]).toEqual([undefined, 1n, 10_000n]);
});

it('ignores a write that is reported late with a lower position', () => {
  const writes = new LastWrites();
  for (const position of [2n, 1n, undefined]) writes.note('alice', position);
  expect(writes.of('alice')).toBe(2n);
});
