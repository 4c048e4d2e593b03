import { expect, it } from '@jest/globals';
import { DocumentLane } from './document-lane.js';

const never = new AbortController().signal;

/** A lane whose documents end when the test says so. `begun` lists them in the order in which they began. */
function laneOf(rank?: (ownerId: string) => number) {
  const lane = new DocumentLane<string>(rank);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (name: string, signal = never) =>
    lane.ask(name[0]!, signal, () => {
      begun.push(name);
      return new Promise((resolve) => ends.set(name, () => resolve(name)));
    });
  const end = async () => {
    ends.get(begun.at(-1)!)!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { lane, begun, ask, end };
}

it('reads one document at a time and serves owners in turn', async () => {
  const { lane, begun, ask, end } = laneOf();
  const asked = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => ask(name));
  expect([begun, lane.waiting, lane.of('a')]).toEqual([['a1'], 4, 3]);
  for (let ended = 0; ended < 5; ended++) await end();
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'a3']);
  expect(await Promise.all(asked)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
  expect(lane.of('a')).toBe(0);
});

it('serves an owner with a lower rank next, after the document that is being read', async () => {
  const { begun, ask, end } = laneOf((ownerId) => (ownerId === 'a' ? 3 : 0));
  const asked = ['a1', 'a2', 'a3'].map((name) => ask(name));
  asked.push(ask('b1'));
  await end();
  expect(begun).toEqual(['a1', 'b1']);
  for (let ended = 0; ended < 3; ended++) await end();
  await Promise.all(asked);
});

it('continues after a document that failed', async () => {
  const lane = new DocumentLane<string>();
  const failed = lane.ask('a', never, () => Promise.reject(new Error('Broken.')));
  const next = lane.ask('a', never, () => Promise.resolve('read'));
  await expect(failed).rejects.toThrow('Broken.');
  expect(await next).toBe('read');
});

it('drops a waiting document that is aborted', async () => {
  const { lane, begun, ask, end } = laneOf();
  const first = ask('a1');
  const over = new AbortController();
  const givenUp = ask('b1', over.signal);
  const last = ask('c1');
  over.abort(new Error('Enough.'));
  await expect(givenUp).rejects.toThrow('Enough.');
  await expect(ask('d1', over.signal)).rejects.toThrow('Enough.');
  expect(lane.waiting).toBe(1);
  await end();
  await end();
  await Promise.all([first, last]);
  expect(begun).toEqual(['a1', 'c1']);
});
