import { beforeEach, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../../test/support/in-memory-event-store.js';
import { cause } from '../../../../test/support/turns.js';
import { VirtualTiming } from '../../../../test/support/virtual-timing.js';
import { Streams } from '../../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../../platform/messaging/signals/in-process-signals.js';
import { DeletedResponses, POLL_MS } from './deleted-responses.js';
import { responseDeletedSubject } from './response.commands.js';
import { create, remove, storedResponse } from './response.decider.js';
import { type ResponseCreated, responseStream } from './response.events.js';

const ID = '0b9d3f6e-21c4-4f0b-8a55-3c1f6f0d9e01';

let store: InMemoryEventStore;
let timing: VirtualTiming;
let streams: Streams;
let signals: InProcessSignals;
let told: number;
let stop: () => void;
beforeEach(async () => {
  store = new InMemoryEventStore();
  timing = new VirtualTiming();
  streams = new Streams(store, timing);
  signals = new InProcessSignals();
  const created = { responseId: ID, turnId: ID } as ResponseCreated['data'];
  await streams.transact(responseStream(ID), storedResponse, create(created), cause);
  told = 0;
  stop = new DeletedResponses(streams, signals, timing).watch(ID, () => told++);
});

const removed = () => streams.transact(responseStream(ID), storedResponse, remove(ID), cause);
/** Lets time pass, and then the checks that are due complete. */
const after = async (ms: number) => {
  await timing.pause(ms);
  await timing.pause(0);
};

it('a deletion whose signal is lost is noticed at the next check', async () => {
  await removed();
  await after(POLL_MS - 1);
  expect(told).toBe(0);
  await after(1);
  expect(told).toBe(1);
});

it('a deletion is noticed at once by its signal, and a signal without a deletion has no effect', async () => {
  signals.publish(responseDeletedSubject(ID), '');
  await after(0);
  expect(told).toBe(0);
  await removed();
  signals.publish(responseDeletedSubject(ID), '');
  await after(0);
  expect(told).toBe(1);
  expect(timing.elapsedMs()).toBe(0);
});

it('the check is repeated after a failed one', async () => {
  await removed();
  const fold = streams.fold.bind(streams);
  streams.fold = () => Promise.reject(new Error('The store is away.'));
  await after(POLL_MS);
  streams.fold = fold;
  expect(told).toBe(0);
  await after(POLL_MS);
  expect(told).toBe(1);
});

it('the checks end with the watch', async () => {
  await removed();
  stop();
  signals.publish(responseDeletedSubject(ID), '');
  await after(2 * POLL_MS);
  expect(told).toBe(0);
});
