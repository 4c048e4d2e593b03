import { expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { BlobMissing } from '../../../kernel/blobs.js';
import { INLINE_BYTES_MAX } from '../../../kernel/own-blobs.js';
import { KeptFindings } from './kept-findings.js';
import type { Findings } from './research.events.js';

const findingsOf = (letter: string): Findings => ({
  report: letter.repeat(2 * INLINE_BYTES_MAX),
  sources: [],
  toolCalls: [],
});

it('findings whose report was refused are deleted, unless equal ones are recorded', async () => {
  const kept = new KeptFindings(new InMemoryBlobs());
  const one = await kept.keep('t1', 1, findingsOf('a'));
  const equal = await kept.keep('t1', 1, findingsOf('a'));
  const other = await kept.keep('t1', 1, findingsOf('b'));
  const small = { ...findingsOf(''), report: 'Short.' };
  await kept.dropUnless(equal, one);
  await kept.dropUnless(other, one);
  await kept.dropUnless(small, one);
  expect(await kept.recall(one)).toEqual(findingsOf('a'));
  await expect(kept.recall(other)).rejects.toThrow(BlobMissing);
  await kept.dropUnless(one, undefined);
  await expect(kept.recall(one)).rejects.toThrow(BlobMissing);
});
