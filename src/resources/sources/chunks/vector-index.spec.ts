import { expect, it } from '@jest/globals';
import { encodeEmbedding, VectorIndex } from './vector-index.js';

const DIMENSIONS = 4;
const VECTOR_BYTES = DIMENSIONS * Float32Array.BYTES_PER_ELEMENT;
const QUESTION = [1, 0, 0, 0];

/** Sources with as many vectors as their id begins with. `read` lists the ids that were read. */
function storedVectors(failsOnce = false) {
  const read: string[] = [];
  let fails = failsOnce;
  return {
    read,
    async *vectors(chunksId: string) {
      read.push(chunksId);
      if (fails) {
        fails = false;
        throw new Error('away');
      }
      const embedding = Buffer.from(encodeEmbedding(QUESTION), 'base64');
      yield Array.from({ length: Number.parseInt(chunksId, 10) }, (_, ordinal) => ({ ordinal, embedding }));
    },
  };
}

const readIn = async (bytesMax: number, chunksIds: readonly string[]) => {
  const stored = storedVectors();
  const index = new VectorIndex(stored, bytesMax);
  for (const chunksId of chunksIds)
    expect(await index.nearest(chunksId, 'm', QUESTION, 1)).toMatchObject(chunksId === '0' ? [] : [{ ordinal: 0 }]);
  return stored.read;
};

it('reads vectors once while they fit in the cache, and evicts the least recently used', async () => {
  expect(await readIn(3 * VECTOR_BYTES, ['1a', '1b', '1c', '1a', '1b', '1c'])).toEqual(['1a', '1b', '1c']);
  expect(await readIn(3 * VECTOR_BYTES, ['1a', '2b', '1a', '2c', '1a', '2b'])).toEqual(['1a', '2b', '2c', '2b']);
});

it('caches vectors larger than the cache alone, until others are read', async () => {
  expect(await readIn(2 * VECTOR_BYTES, ['1a', '3b', '3b', '1a', '1a', '3b'])).toEqual(['1a', '3b', '1a', '3b']);
});

it('caches that there are no vectors', async () => {
  expect(await readIn(VECTOR_BYTES, ['0', '0'])).toEqual(['0']);
});

it('reads once for concurrent searches, and again after a failure', async () => {
  const stored = storedVectors(true);
  const index = new VectorIndex(stored);
  const ask = () => index.nearest('1', 'm', QUESTION, 1);
  expect((await Promise.allSettled([ask(), ask()])).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([ask(), ask()])).toHaveLength(2);
  expect(stored.read).toEqual(['1', '1']);
});

it('reads the vectors again after an edit of the chunks', async () => {
  const stored = storedVectors();
  const index = new VectorIndex(stored);
  for (const edits of [0, 0, 1, 1]) await index.nearest('1', 'm', QUESTION, 1, edits);
  expect(stored.read).toEqual(['1', '1']);
});
