import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { eventsBackwards, type StreamReading } from './event-store.js';

const EVENTS = 200;

async function streamOf(count: number) {
  const store = new InMemoryEventStore();
  const events = Array.from({ length: count }, (_, at) => ({ id: `e${at}`, type: 'Counted', data: '{}', metadata: '{}' }));
  await store.append('counter-1', 'none', events);
  const limits: (number | undefined)[] = [];
  const read = (stream: string, reading: StreamReading = {}) => {
    limits.push(reading.limit);
    return store.read(stream, reading);
  };
  return { limits, counted: { read } };
}

const revisions = async (events: AsyncIterable<Readonly<{ revision: number }>>, wanted = Infinity): Promise<number[]> => {
  const seen: number[] = [];
  for await (const { revision } of events) {
    seen.push(revision);
    if (seen.length === wanted) break;
  }
  return seen;
};
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => from - at);

it('reads a stream backwards, each event once, in growing pages', async () => {
  const { counted, limits } = await streamOf(EVENTS);
  expect(await revisions(eventsBackwards(counted, 'counter-1'))).toEqual(down(EVENTS - 1, 0));
  expect(limits).toEqual([64, 128, 256]);
});

it('does not read ahead of its caller', async () => {
  const { counted, limits } = await streamOf(EVENTS);
  expect(await revisions(eventsBackwards(counted, 'counter-1'), 10)).toEqual(down(EVENTS - 1, EVENTS - 10));
  expect(limits).toEqual([64]);
});

it('starts at a revision and ends at the limit or at the start of the stream', async () => {
  const { counted } = await streamOf(EVENTS);
  expect(await revisions(eventsBackwards(counted, 'counter-1', { from: 100, limit: 70 }))).toEqual(down(100, 31));
  expect(await revisions(eventsBackwards(counted, 'counter-1', { from: 3 }))).toEqual([3, 2, 1, 0]);
  expect(await revisions(eventsBackwards(counted, 'counter-2'))).toEqual([]);
});
