import { describe, expect, it } from '@jest/globals';

import { StoreUnavailable, WrongRevision } from '../../../kernel/event-sourcing/event-store.js';
import { appendSurely } from '../../../../test/support/append-surely.js';
import {
  eventsOf,
  eventually,
  ids,
  newEvent,
  newEvents,
  newStream,
  range,
  revisions,
} from '../../../../test/contracts/event-store.subject.js';
import { EventStoreDbDouble } from '../../../../test/support/eventstoredb-double/event-store-db-double.js';
import { connect, IMPATIENT, onDouble, writeSurely } from '../../../../test/support/eventstoredb-double/on-double.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';

const on = onDouble();

describe('an append', () => {
  it.each([
    ['is lost', { written: false, answer: 'nothing' }],
    ['is written and its reply lost', { written: true, answer: 'nothing' }],
    ['is written and the connection cut', { written: true, answer: 'disconnect' }],
    ['is not written and the connection cut', { written: false, answer: 'disconnect' }],
    ['is written and the call fails', { written: true, answer: 'unavailable' }],
    ['is written and answered with a timeout', { written: true, answer: 'timeout' }],
    ['is written and answered with an unknown error', { written: true, answer: 'unknown' }],
    ['finds the server busy', { written: false, answer: 'busy' }],
  ] as const)('that %s has an unknown outcome, and takes effect once when it is repeated', async (_, fault) => {
    const stream = newStream();
    await on.store.append(stream, 'none', newEvents(1));
    const batch = newEvents(2);
    on.double.faults.nextAppends(1, fault);
    await expect(on.impatient.append(stream, 0, batch)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await appendSurely(on.store, stream, 0, batch)).toMatchObject({ revision: 2 });
    expect(revisions(await eventsOf(on.store.read(stream)))).toEqual([0, 1, 2]);
  });

  it('fails with an unknown outcome at its deadline when the server does not reply', async () => {
    on.double.faults.onAppend = () => ({ written: false, answer: 'nothing' });
    await expect(on.impatient.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
  });

  it('without a reply does not fail other appends', async () => {
    const [silent, ...others] = range(0, 20).map(() => newStream());
    on.double.faults.onAppend = (stream) => (stream === silent ? { written: false, answer: 'nothing' } : undefined);
    const store = connect(on.double, { appendDeadlineMs: 8_000 });
    try {
      const lost = store.append(silent!, 'none', newEvents(1));
      const answers = await Promise.all(others.map((stream) => store.append(stream, 'none', newEvents(1))));
      expect(answers).toHaveLength(20);
      await expect(lost).rejects.toBeInstanceOf(StoreUnavailable);
      expect(await store.append(newStream(), 'none', newEvents(1))).toMatchObject({ revision: 0 });
    } finally {
      await store.close();
    }
  });

  it('with a late reply takes effect once when it is repeated', async () => {
    on.double.faults.delayMs = 2 * IMPATIENT.appendDeadlineMs;
    const stream = newStream();
    const batch = newEvents(1);
    await expect(on.impatient.append(stream, 'none', batch)).rejects.toBeInstanceOf(StoreUnavailable);
    on.double.faults.clear();
    expect(await appendSurely(on.store, stream, 'none', batch)).toMatchObject({ revision: 0 });
    await eventually(() => on.double.appendsSeen >= 2, 'both to arrive');
    expect(await eventsOf(on.store.read(stream))).toHaveLength(1);
  });

  it('of one store is not affected by errors of another store in the process', async () => {
    const other = await EventStoreDbDouble.start();
    const neighbour = connect(other);
    try {
      other.faults.delayMs = 150;
      const waiting = neighbour.append(newStream(), 'none', newEvents(1));
      on.double.faults.nextAppends(1, { written: false, answer: 'unavailable' });
      await expect(on.store.append(newStream(), 'none', newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
      expect(await waiting).toMatchObject({ revision: 0 });
    } finally {
      await neighbour.close();
      await other.close();
    }
  });

  it.each([
    ['a revision below zero', newStream(), -1, [newEvent()]],
    ['a fractional revision', newStream(), 0.5, [newEvent()]],
    ['an id that is not a UUID', newStream(), 'none' as const, [newEvent({ id: 'x' })]],
    ['a stream without a name', '', 'none' as const, [newEvent()]],
  ])('with %s is rejected before it can fail the other appends on the same call', async (_, stream, expected, events) => {
    on.double.faults.delayMs = 50;
    const good = on.store.append(newStream(), 'none', newEvents(1));
    await expect(on.store.append(stream, expected, events)).rejects.toBeInstanceOf(RangeError);
    expect(await good).toMatchObject({ revision: 0 });
  });

  it('is sent to the new leader when this server is no longer the leader', async () => {
    const leader = await EventStoreDbDouble.start();
    try {
      const stream = newStream();
      const batch = newEvents(1);
      await on.store.append(newStream(), 'none', newEvents(1));
      on.double.faults.leader = { host: '127.0.0.1', port: leader.port };
      on.double.dropConnections();
      expect(await appendSurely(on.store, stream, 'none', batch)).toMatchObject({ revision: 0 });
      expect(leader.log.visible(stream)).toHaveLength(1);
      expect(on.double.log.visible(stream)).toBeUndefined();
      expect(ids(await eventsOf(on.store.read(stream)))).toEqual(ids(batch));
    } finally {
      await leader.close();
    }
  });

  it('leaves a leader that was replaced while it was frozen, does not know that yet, and completes no append', async () => {
    const replaced = await EventStoreDbDouble.start();
    const both = [replaced, on.double].map(({ port }) => `127.0.0.1:${port}`).join();
    const found = new EventStoreDbEventStore({ connectionString: `esdb://${both}?tls=false` });
    try {
      on.double.faults.leader = { host: '127.0.0.1', port: replaced.port };
      await found.append(newStream(), 'none', newEvents(1));
      on.double.faults.clear();
      replaced.faults.onAppend = () => ({ written: false, answer: 'timeout' });
      const stream = newStream();
      const batch = newEvents(1);
      expect(await appendSurely(found, stream, 'none', batch)).toMatchObject({ revision: 0 });
      expect(ids(await eventsOf(on.store.read(stream)))).toEqual(ids(batch));
    } finally {
      await found.close();
      await replaced.close();
    }
  });

  it.each([
    'esdb+discover://127.0.0.1:PORT?tls=false',
    'esdb://127.0.0.1:1,127.0.0.1:PORT?tls=false',
    'kurrentdb://127.0.0.1:PORT?tls=false',
  ])('reaches the server through %s, also after a restart', async (address) => {
    const found = new EventStoreDbEventStore({ connectionString: address.replace('PORT', String(on.double.port)) });
    try {
      const stream = newStream();
      await found.append(stream, 'none', newEvents(1));
      await on.double.crash();
      await on.double.listen();
      await appendSurely(found, stream, 0, newEvents(1));
      expect(await eventsOf(found.read(stream))).toHaveLength(2);
    } finally {
      await found.close();
    }
  });

  it('takes effect exactly once while connections are cut repeatedly', async () => {
    const streams = range(1, 10).map(() => newStream());
    let busy = true;
    const cutting = (async () => {
      for (let seen = 0; busy; await new Promise((resolve) => setTimeout(resolve, 1))) {
        if (on.double.appendsSeen < seen + 15) continue;
        seen = on.double.appendsSeen;
        on.double.dropConnections();
      }
    })();
    const batches = await Promise.all(streams.map((stream) => writeSurely(on.store, stream, 30)));
    busy = false;
    await cutting;
    for (const [index, stream] of streams.entries()) expect(ids(await eventsOf(on.store.read(stream)))).toEqual(batches[index]);
  });

  it('is rejected with the wrong revision when another writer took the revision before the repetition', async () => {
    const stream = newStream();
    on.double.faults.nextAppends(1, { written: false, answer: 'disconnect' });
    const mine = newEvents(1);
    await expect(on.store.append(stream, 'none', mine)).rejects.toBeInstanceOf(StoreUnavailable);
    await appendSurely(on.store, stream, 'none', newEvents(1));
    await expect(appendSurely(on.store, stream, 'none', mine)).rejects.toBeInstanceOf(WrongRevision);
  });
});
