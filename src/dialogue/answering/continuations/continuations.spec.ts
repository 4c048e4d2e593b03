import { Readable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { InMemoryBlobs } from '../../../../test/support/in-memory-blobs.js';
import { BlobMissing, type BlobRef } from '../../../kernel/blobs.js';
import { Continuations, INLINE_BYTES_MAX } from './continuations.js';

type LoopState = Readonly<{ messages: readonly object[]; round: number; unknownCalls: number; results: object }>;

const stateOf = (content: string): LoopState => ({
  messages: [{ role: 'user', content }],
  round: 3,
  unknownCalls: 1,
  results: { k1: 'sent' },
});
const storedBytes = (state: LoopState): number => Buffer.byteLength(JSON.stringify(JSON.stringify(state)));
/** A state that takes so many bytes in the log. */
const stateOfBytes = (bytes: number): LoopState => stateOf('x'.repeat(bytes - storedBytes(stateOf(''))));

it('what a turn goes on from is kept in the log while it is small there, else beside it', async () => {
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
  'it is the same when it is recalled',
  async (content) => {
    const continuations = new Continuations(new InMemoryBlobs());
    const state = stateOf(content);
    expect(await continuations.recall(await continuations.keep('t1', JSON.stringify(state)))).toEqual(state);
  },
);

it('one that is no longer needed goes, and that of another turn stays', async () => {
  const continuations = new Continuations(new InMemoryBlobs());
  const state = stateOfBytes(2 * INLINE_BYTES_MAX);
  const [one, other] = await Promise.all(['t1', 't2'].map((turnId) => continuations.keep(turnId, JSON.stringify(state))));
  await continuations.drop((one as { blob: BlobRef }).blob.sha256);
  await expect(continuations.recall(one!)).rejects.toThrow(BlobMissing);
  expect(await continuations.recall(other!)).toEqual(state);
});

it('one from before turns had their own is recalled as well', async () => {
  const blobs = new InMemoryBlobs();
  const state = stateOf('from before');
  const blob = await blobs.put(Readable.from([Buffer.from(JSON.stringify(state))]));
  expect(await new Continuations(blobs).recall({ blob })).toEqual(state);
});
