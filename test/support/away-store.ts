import { jest } from '@jest/globals';
import { type EventStore, StoreUnavailable } from '../../src/kernel/event-sourcing/event-store.js';

/** Lets the next reads of streams fail, as while the store is away. Returns the spy on all reads. */
export function failNextReads(store: EventStore, count: number) {
  const reading = jest.spyOn(store, 'read');
  for (let failures = 0; failures < count; failures++) {
    reading.mockImplementationOnce(() => {
      throw new StoreUnavailable('The store is away.');
    });
  }
  return reading;
}
