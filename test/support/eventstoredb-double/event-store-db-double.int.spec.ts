import {
  type AllStreamSubscription,
  EventStoreDBClient,
  eventTypeFilter,
  excludeSystemEvents,
  type JSONEventType,
  jsonEvent,
  streamNameFilter,
  type StreamSubscription,
} from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { newId } from '../../../src/kernel/ids.js';
import { EventStoreDbDouble } from './event-store-db-double.js';

let double: EventStoreDbDouble;
let client: EventStoreDBClient;

beforeAll(async () => {
  double = await EventStoreDbDouble.start();
  client = EventStoreDBClient.connectionString(double.connectionString);
});

afterAll(async () => {
  await double.close();
});

type Numbered = JSONEventType<'Numbered', { n: number }>;

const stream = (category = 'thing') => `${category}-${newId()}`;
const numbered = (...numbers: number[]) => numbers.map((n) => jsonEvent<Numbered>({ type: 'Numbered', data: { n } }));

/** Credentials make the client use the plain append instead of the batch append. */
const PLAIN = { credentials: { username: 'admin', password: 'changeit' } };

async function numbersIn(name: string, options = {}): Promise<number[]> {
  const found: number[] = [];
  for await (const { event } of client.readStream<Numbered>(name, options)) found.push(event!.data.n);
  return found;
}

describe.each([
  ['batch append', {}],
  ['plain append', PLAIN],
])('%s, as the client speaks it', (_, how) => {
  it('writes and answers with the revision and the position of the last event', async () => {
    const name = stream();
    const first = await client.appendToStream(name, numbered(1, 2, 3), { expectedRevision: 'no_stream', ...how });
    expect(first).toMatchObject({ success: true, nextExpectedRevision: 2n });
    await client.appendToStream(name, numbered(4), { expectedRevision: 2n, ...how });
    expect(await numbersIn(name)).toEqual([1, 2, 3, 4]);
    expect(await numbersIn(name, { direction: 'backwards', fromRevision: 'end', maxCount: 2 })).toEqual([4, 3]);
  });

  it('refuses what was decided on another revision', async () => {
    const name = stream();
    await expect(client.appendToStream(name, numbered(1), { expectedRevision: 3n, ...how })).rejects.toMatchObject({
      type: 'wrong-expected-version',
      actualVersion: 'no_stream',
    });
    await expect(client.appendToStream(name, numbered(1), { expectedRevision: 'stream_exists', ...how })).rejects.toMatchObject({
      type: 'wrong-expected-version',
    });
    await client.appendToStream(name, numbered(1, 2), how);
    await expect(client.appendToStream(name, numbered(3), { expectedRevision: 'no_stream', ...how })).rejects.toMatchObject({
      actualVersion: 1n,
    });
    await client.appendToStream(name, numbered(3), { expectedRevision: 'stream_exists', ...how });
    expect(await numbersIn(name)).toEqual([1, 2, 3]);
  });

  it('recognises events by their ids when any revision will do', async () => {
    const name = stream();
    const events = numbered(1, 2);
    const first = await client.appendToStream(name, events, how);
    await client.appendToStream(name, numbered(3), how);
    expect(await client.appendToStream(name, events, how)).toEqual(first);
    await expect(client.appendToStream(name, [events[0]!, ...numbered(4)], how)).rejects.toMatchObject({
      type: 'wrong-expected-version',
    });
    await client.appendToStream(name, [...numbered(5), events[0]!], how);
    expect(await numbersIn(name)).toEqual([1, 2, 3, 5, 1]);
  });

  it('refuses an append over its limit', async () => {
    const large = jsonEvent({ type: 'Large', data: 'x'.repeat(1024 * 1024) });
    await expect(client.appendToStream(stream(), large, how)).rejects.toMatchObject({ type: 'maximum-append-size-exceeded' });
  });
});

describe('a stream', () => {
  it('comes in chunks when a batch is larger than one message', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1, 2, 3, 4, 5, 6), { batchAppendSize: 300 });
    expect(await numbersIn(name)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('is refused in time when the write takes too long', async () => {
    const name = stream();
    double.faults.delayMs = 300;
    const late = client.appendToStream(name, numbered(1), { deadline: 100 });
    await expect(late).rejects.toMatchObject({ type: 'deadline-exceeded' });
    double.faults.clear();
    expect(double.log.visible(name)).toBeUndefined();
  });

  it('is hidden by a deletion and goes on with its revisions after it', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1, 2));
    await client.deleteStream(name);
    await expect(numbersIn(name)).rejects.toMatchObject({ type: 'stream-not-found' });
    expect(await client.appendToStream(name, numbered(3), { expectedRevision: 'no_stream' })).toMatchObject({
      nextExpectedRevision: 2n,
    });
    expect(await numbersIn(name)).toEqual([3]);
    await expect(client.deleteStream(stream(), { expectedRevision: 4n })).rejects.toMatchObject({
      type: 'wrong-expected-version',
    });
  });

  it('is over with a tombstone', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1));
    await client.tombstoneStream(name);
    await expect(client.appendToStream(name, numbered(2))).rejects.toMatchObject({ type: 'stream-deleted' });
    await expect(numbersIn(name)).rejects.toMatchObject({ type: 'stream-deleted' });
    await expect(client.tombstoneStream(name)).rejects.toMatchObject({ type: 'stream-deleted' });
  });

  it('shows what its metadata leaves', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(0, 1, 2, 3, 4));
    await client.setStreamMetadata(name, { truncateBefore: 1 });
    expect(await numbersIn(name)).toEqual([1, 2, 3, 4]);
    await client.setStreamMetadata(name, { maxCount: 2 });
    expect(await numbersIn(name)).toEqual([3, 4]);
    expect((await client.getStreamMetadata(name)).metadata).toMatchObject({ maxCount: 2 });
  });
});

describe('a subscription', () => {
  it('gives a stream after a revision, then says that it caught up, then what comes', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(0, 1, 2));
    const subscription: StreamSubscription<Numbered> = client.subscribeToStream<Numbered>(name, { fromRevision: 0n });
    const told: unknown[] = [];
    subscription.on('caughtUp', () => void told.push('caught up'));
    for await (const { event } of subscription) {
      told.push(event!.data.n);
      if (event!.data.n === 2) setTimeout(() => void client.appendToStream(name, numbered(3)), 50);
      if (event!.data.n === 3) break;
    }
    expect(told).toEqual([1, 2, 'caught up', 3]);
  });

  it.each([
    ['stream names that begin so', streamNameFilter({ prefixes: ['wanted-', 'welcome-'] })],
    ['stream names that match', streamNameFilter({ regex: '^(?:wanted|welcome)-' })],
    ['event types that begin so', eventTypeFilter({ prefixes: ['Want'] })],
    ['event types that match', eventTypeFilter({ regex: '^W' })],
  ])('gives of the log what passes a filter: %s', async (_, filter) => {
    const from = await end();
    const names = [stream('wanted'), stream('unwanted'), stream('welcome')];
    for (const name of names) {
      await client.appendToStream(name, jsonEvent({ type: name.startsWith('un') ? 'Unwanted' : 'Wanted', data: {} }));
    }
    expect(await firstOf(client.subscribeToAll({ fromPosition: from, filter }), 2)).toEqual([names[0], names[2]]);
  });

  it('says how far it is where a filter lets little through', async () => {
    const from = await end();
    const reached: bigint[] = [];
    const checkpointReached = async (_: unknown, { commit }: { commit: bigint }) => void reached.push(commit);
    const filter = streamNameFilter({ prefixes: ['rare-'], maxSearchWindow: 10, checkpointInterval: 2, checkpointReached });
    const name = stream('rare');
    await client.appendToStream(stream(), numbered(...Array.from({ length: 100 }, (_, index) => index)));
    await client.appendToStream(name, numbered(1));
    expect(await firstOf(client.subscribeToAll({ fromPosition: from, filter }), 1)).toEqual([name]);
    expect(reached).toHaveLength(5);
    expect(reached).toEqual([...reached].sort((a, b) => Number(a - b)));
  });

  it('can leave out what the server writes itself', async () => {
    const from = await end();
    const name = stream();
    await client.setStreamMetadata(name, { maxCount: 10 });
    await client.appendToStream(name, numbered(1));
    expect(await firstOf(client.subscribeToAll({ fromPosition: from, filter: excludeSystemEvents() }), 1)).toEqual([name]);
    expect(await firstOf(client.subscribeToAll({ fromPosition: from }), 2)).toEqual([`$$${name}`, name]);
  });
});

async function end() {
  await client.appendToStream(stream(), numbered(0));
  for await (const { event } of client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 1 }))
    return event!.position;
  throw new Error('The log is empty.');
}

async function firstOf(subscription: AllStreamSubscription, count: number): Promise<string[]> {
  const names: string[] = [];
  for await (const { event } of subscription) {
    names.push(event!.streamId);
    if (names.length === count) break;
  }
  return names;
}
