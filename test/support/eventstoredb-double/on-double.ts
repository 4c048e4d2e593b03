import { afterEach, beforeEach } from '@jest/globals';

import { StoreUnavailable } from '../../../src/kernel/event-sourcing/event-store.js';
import { appendSurely } from '../append-surely.js';
import { EventStoreDbEventStore } from '../../../src/platform/event-store/eventstoredb/eventstoredb-event-store.js';
import { ids, newEvents } from '../../contracts/event-store.subject.js';
import { EventStoreDbDouble } from './event-store-db-double.js';

/** Deadlines that are short enough for a test to wait for. */
export const IMPATIENT = { appendDeadlineMs: 400, answerDeadlineMs: 400, silenceMs: 700 };
/** Deadlines that a test machine keeps even if it stalls for a while. */
const PATIENT = { appendDeadlineMs: 30_000, answerDeadlineMs: 30_000 };

export const connect = (to: EventStoreDbDouble, deadlines: Partial<typeof IMPATIENT> = PATIENT) =>
  new EventStoreDbEventStore({ connectionString: to.connectionString, ...deadlines });

/** Starts a double for each test of a file, with two stores over it, of which one has short deadlines. */
export function onDouble(): Record<'store' | 'impatient', EventStoreDbEventStore> & { double: EventStoreDbDouble } {
  const on = {} as ReturnType<typeof onDouble>;
  beforeEach(async () => {
    on.double = await EventStoreDbDouble.start();
    on.store = connect(on.double);
    on.impatient = connect(on.double, IMPATIENT);
  });
  afterEach(async () => {
    await Promise.all([on.store.close(), on.impatient.close()]);
    await on.double.close();
  });
  return on;
}

/** Appends events one after another and repeats each until it is written. Returns their ids. */
export async function writeSurely(store: EventStoreDbEventStore, stream: string, count: number): Promise<string[]> {
  const events = newEvents(count);
  for (const [index, event] of events.entries()) {
    for (let done = false; !done;) {
      done = await appendSurely(store, stream, index === 0 ? 'none' : index - 1, [event]).then(
        () => true,
        (error: unknown) => {
          if (error instanceof StoreUnavailable) return false;
          throw error;
        },
      );
    }
  }
  return ids(events);
}
