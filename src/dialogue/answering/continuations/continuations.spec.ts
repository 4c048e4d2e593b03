import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { BlobMissing, type BlobRef } from '../../../kernel/blobs.js';
import { INLINE_BYTES_MAX } from '../../../kernel/own-blobs.js';
import { Continuations } from './continuations.js';

type LoopState = Readonly<{ messages: readonly object[]; round: number; unknownCalls: number; results: object }>;

const stateOf = (content: string): LoopState => ({
  messages: [{ role: 'user', content }],
  round: 3,
  unknownCalls: 1,
  results: { k1: 'sent' },
});
const storedBytes = (state: LoopState): number => Buffer.byteLength(JSON.stringify(JSON.stringify(state)));
/** A state that takes the given number of bytes in the log. */
const stateOfBytes = (bytes: number): LoopState => stateOf('x'.repeat(bytes - storedBytes(stateOf(''))));

it('a continuation is inline up to INLINE_BYTES_MAX and a blob beyond that', async () => {
  const continuations = new Continuations(new InMemoryBlobs());
  const most = stateOfBytes(INLINE_BYTES_MAX);
  expect(await continuations.keep('t1', JSON.stringify(most))).toEqual({ text: JSON.stringify(most) });
  expect(await continuations.keep('t1', JSON.stringify(stateOfBytes(INLINE_BYTES_MAX + 1)))).toMatchObject({
    blob: expect.anything(),
  });
  // Within JSON a quotation mark takes four bytes: two for the state, two for the event.
  expect(await continuations.keep('t1', JSON.stringify(stateOf('"'.repeat(INLINE_BYTES_MAX / 4))))).toMatchObject({
    blob: expect.anything(),
  });
});

it.each([['a word'], ['x'.repeat(2 * INLINE_BYTES_MAX)], ['漢"\u0001'.repeat(INLINE_BYTES_MAX)]])(
  'a continuation is the same when it is recalled',
  async (content) => {
    const continuations = new Continuations(new InMemoryBlobs());
    const state = stateOf(content);
    expect(await continuations.recall(await continuations.keep('t1', JSON.stringify(state)))).toEqual(state);
  },
);

it('dropping a continuation deletes its blob and leaves the equal one of another turn', async () => {
  const continuations = new Continuations(new InMemoryBlobs());
  const state = stateOfBytes(2 * INLINE_BYTES_MAX);
  const [one, other] = await Promise.all(['t1', 't2'].map((turnId) => continuations.keep(turnId, JSON.stringify(state))));
  await continuations.drop((one as { blob: BlobRef }).blob.sha256);
  await expect(continuations.recall(one!)).rejects.toThrow(BlobMissing);
  expect(await continuations.recall(other!)).toEqual(state);
});

it('a continuation in the old form of a shared blob can still be recalled', async () => {
  const blobs = new InMemoryBlobs();
  const state = stateOf('from before');
  const blob = await blobs.put(Readable.from([Buffer.from(JSON.stringify(state))]));
  expect(await new Continuations(blobs).recall({ blob })).toEqual(state);
});
