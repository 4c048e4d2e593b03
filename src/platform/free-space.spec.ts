import { tmpdir } from 'node:os';
import { expect, it } from '@jest/globals';
import { isDiskFull } from '../kernel/full-disk.js';
import { FREE_BYTES_MIN, hasNoSpace, requireSpaceLeft, spaceImpairment } from './free-space.js';

const BLOCK_BYTES = 4096;
const free = (bytes: number) => () => ({ bavail: bytes / BLOCK_BYTES, bsize: BLOCK_BYTES });

it.each([
  [FREE_BYTES_MIN, false],
  [FREE_BYTES_MIN - BLOCK_BYTES, true],
  [0, true],
])('%i free bytes are too few: %p', (bytes, expected) => {
  expect(hasNoSpace('/data', free(bytes))).toBe(expected);
  expect(spaceImpairment('/data', free(bytes))?.readiness).toBe(expected ? 'degraded' : undefined);
});

it('reads the free space of a folder and treats an unknown folder as one with space', () => {
  expect(() => hasNoSpace(tmpdir())).not.toThrow();
  expect(hasNoSpace('/there/is/no/such/folder')).toBe(false);
});

it('ends a rebuild as a full disk would, while the service can still store', () => {
  expect(() => requireSpaceLeft('/data', free(4 * FREE_BYTES_MIN))).not.toThrow();
  let fault: unknown;
  try {
    requireSpaceLeft('/data', free(2 * FREE_BYTES_MIN));
  } catch (error) {
    fault = error;
  }
  expect(isDiskFull(fault)).toBe(true);
});
