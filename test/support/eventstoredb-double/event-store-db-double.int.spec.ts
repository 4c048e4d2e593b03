import {
  type AllStreamSubscription,
  EventStoreDBClient,
  eventTypeFilter,
  excludeSystemEvents,
  type JSONEventType,
  jsonEvent,
  streamNameFilter,
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

/** With credentials the client uses the plain append instead of the batch append. */
const PLAIN = { credentials: { username: 'admin', password: 'changeit' } };

async function numbersIn(name: string, options = {}, from = client): Promise<number[]> {
  const found: number[] = [];
  for await (const { event } of from.readStream<Numbered>(name, { requiresLeader: true, ...options })) found.push(event!.data.n);
  return found;
}

describe.each([
  ['batch append', {}],
  ['plain append', PLAIN],
])('%s, as the client uses it', (_, how) => {
  it('writes and returns the revision and the position of the last event', async () => {
    const name = stream();
    const first = await client.appendToStream(name, numbered(1, 2, 3), { expectedRevision: 'no_stream', ...how });
    expect(first).toMatchObject({ success: true, nextExpectedRevision: 2n });
    await client.appendToStream(name, numbered(4), { expectedRevision: 2n, ...how });
    expect(await numbersIn(name)).toEqual([1, 2, 3, 4]);
    expect(await numbersIn(name, { direction: 'backwards', fromRevision: 'end', maxCount: 2 })).toEqual([4, 3]);
  });

  it('refuses an append with another expected revision', async () => {
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

  it('recognises repeated events by their ids when any revision is expected', async () => {
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

  it('refuses an append that exceeds the size limit', async () => {
    const large = jsonEvent({ type: 'Large', data: 'x'.repeat(1024 * 1024) });
    await expect(client.appendToStream(stream(), large, how)).rejects.toMatchObject({ type: 'maximum-append-size-exceeded' });
  });
});

describe('a stream', () => {
  it('is written in several messages when a batch is larger than one message', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1, 2, 3, 4, 5, 6), { batchAppendSize: 300 });
    expect(await numbersIn(name)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('refuses a write that exceeds its deadline', async () => {
    const name = stream();
    double.faults.delayMs = 300;
    const late = client.appendToStream(name, numbered(1), { deadline: 100 });
    await expect(late).rejects.toMatchObject({ type: 'deadline-exceeded' });
    double.faults.clear();
    expect(double.log.visible(name)).toBeUndefined();
  });

  it('is hidden by a deletion and continues its revisions afterwards', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1, 2));
    await client.deleteStream(name);
    await expect(numbersIn(name)).rejects.toMatchObject({ type: 'stream-not-found' });
    expect(await client.appendToStream(name, numbered(3), { expectedRevision: 'no_stream' })).toMatchObject({
      nextExpectedRevision: 2n,
    });
    expect(await numbersIn(name)).toEqual([3]);
    for (const [number, expectedRevision] of [
      [4, 2n],
      [5, 'any'],
    ] as const) {
      await client.deleteStream(name);
      await client.appendToStream(name, numbered(number), { expectedRevision });
      expect(await numbersIn(name)).toEqual([number]);
    }
    await expect(client.deleteStream(stream(), { expectedRevision: 4n })).rejects.toMatchObject({
      type: 'wrong-expected-version',
    });
  });

  it('accepts and shows nothing after a tombstone', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1));
    await client.tombstoneStream(name);
    await expect(client.appendToStream(name, numbered(2))).rejects.toMatchObject({ type: 'stream-deleted' });
    await expect(numbersIn(name)).rejects.toMatchObject({ type: 'stream-deleted' });
    await expect(client.tombstoneStream(name)).rejects.toMatchObject({ type: 'stream-deleted' });
  });

  it('shows only the events within the bounds of its metadata', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(0, 1, 2, 3, 4));
    await client.setStreamMetadata(name, { truncateBefore: 1 });
    expect(await numbersIn(name)).toEqual([1, 2, 3, 4]);
    await client.setStreamMetadata(name, { maxCount: 2 });
    expect(await numbersIn(name)).toEqual([3, 4]);
    expect((await client.getStreamMetadata(name, { requiresLeader: true })).metadata).toMatchObject({ maxCount: 2 });
  });
});

it('loses events beyond its bounds when the log is scavenged, and no longer recognises them', async () => {
  const [name, ended] = [stream(), stream()];
  const first = numbered(0, 1);
  await client.appendToStream(name, first, { expectedRevision: 'no_stream' });
  await client.appendToStream(name, numbered(2, 3));
  await client.setStreamMetadata(name, { maxCount: 1 });
  await client.appendToStream(ended, numbered(5));
  await client.tombstoneStream(ended);
  double.log.scavenge();
  await client.setStreamMetadata(name, {});
  expect(await numbersIn(name)).toEqual([3]);
  await expect(client.appendToStream(name, first, { expectedRevision: 'no_stream' })).rejects.toMatchObject({
    actualVersion: 3n,
  });
  expect(double.log.records.filter((record) => record.stream === ended).map(({ type }) => type)).toEqual(['$streamDeleted']);
});

describe('a subscription', () => {
  it('delivers the events of the log after a position, reports that it caught up, then delivers new events', async () => {
    const name = stream();
    const { position } = await client.appendToStream(name, numbered(0));
    await client.appendToStream(name, numbered(1, 2));
    const filter = streamNameFilter({ prefixes: [name] });
    const subscription = client.subscribeToAll({ fromPosition: position!, filter });
    const told: unknown[] = [];
    subscription.on('caughtUp', () => void told.push('caught up'));
    for await (const { event } of subscription) {
      const { n } = event!.data as { n: number };
      told.push(n);
      if (n === 2) setTimeout(() => void client.appendToStream(name, numbered(3)), 50);
      if (n === 3) break;
    }
    expect(told).toEqual([1, 2, 'caught up', 3]);
  });

  it.each([
    ['stream names by prefix', streamNameFilter({ prefixes: ['wanted-', 'welcome-'] })],
    ['stream names by pattern', streamNameFilter({ regex: '^(?:wanted|welcome)-' })],
    ['event types by prefix', eventTypeFilter({ prefixes: ['Want'] })],
    ['event types by pattern', eventTypeFilter({ regex: '^W' })],
  ])('delivers the events of the log that pass a filter: %s', async (_, filter) => {
    const from = await end();
    const names = [stream('wanted'), stream('unwanted'), stream('welcome')];
    for (const name of names) {
      await client.appendToStream(name, jsonEvent({ type: name.startsWith('un') ? 'Unwanted' : 'Wanted', data: {} }));
    }
    expect(await firstOf(client.subscribeToAll({ fromPosition: from, filter }), 2)).toEqual([names[0], names[2]]);
  });

  it('reports checkpoints while a filter passes few events', async () => {
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

  it('can exclude system events', async () => {
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

describe('the failure behaviour of a server', () => {
  it('refuses the loser of a race because of an event that the leader does not show yet', async () => {
    await using slow = await unkind(300);
    const name = stream();
    const winner = slow.client.appendToStream(name, numbered(1), { expectedRevision: 'no_stream' });
    await slow.double.accepted(1);
    const loser = slow.client.appendToStream(name, numbered(2), { expectedRevision: 'no_stream' });
    await expect(loser).rejects.toMatchObject({ type: 'wrong-expected-version', actualVersion: 0n });
    await expect(numbersIn(name, {}, slow.client)).rejects.toMatchObject({ type: 'stream-not-found' });
    await winner;
    expect(await numbersIn(name, {}, slow.client)).toEqual([1]);
  });

  it('drops an append that is identical to one under way and reports a timeout', async () => {
    await using slow = await unkind(300);
    const name = stream();
    const events = numbered(1);
    const first = slow.client.appendToStream(name, events, { expectedRevision: 'no_stream' });
    await slow.double.accepted(1);
    const second = slow.client.appendToStream(name, events, { expectedRevision: 'no_stream' });
    await expect(second).rejects.toMatchObject({ type: 'deadline-exceeded' });
    expect(await first).toMatchObject({ nextExpectedRevision: 0n });
    expect(await slow.client.appendToStream(name, events, { expectedRevision: 'no_stream' })).toMatchObject({
      nextExpectedRevision: 0n,
    });
    expect(await numbersIn(name, {}, slow.client)).toEqual([1]);
  });

  it('lets a follower lag behind the leader', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1));
    expect(await numbersIn(name)).toEqual([1]);
    await expect(numbersIn(name, { requiresLeader: false })).rejects.toMatchObject({ type: 'stream-not-found' });
  });

  it('has system events before the first event of a client', async () => {
    await using fresh = await unkind();
    const types: string[] = [];
    for await (const { event } of fresh.client.readAll()) types.push(event!.type);
    expect(types.length).toBeGreaterThan(0);
    expect(types.every((type) => type.startsWith('$'))).toBe(true);
  });

  it('reports the largest possible number as the position of a filtered subscription that has considered almost nothing', async () => {
    await using fresh = await unkind();
    const positions: bigint[] = [];
    const subscription = fresh.client.subscribeToAll({
      filter: streamNameFilter({ prefixes: ['thing-'], checkpointReached: async (_, { commit }) => void positions.push(commit) }),
    });
    await new Promise((resolve) => subscription.once('caughtUp', resolve));
    await subscription.unsubscribe();
    expect(positions).toEqual([2n ** 64n - 1n]);
  });

  it('removes events beyond their bounds from the whole log only when it is scavenged', async () => {
    const name = stream();
    await client.appendToStream(name, numbered(1, 2, 3));
    await client.setStreamMetadata(name, { maxCount: 1 });
    const inLog = () => double.log.records.filter((record) => record.stream === name).map(({ revision }) => revision);
    expect(await numbersIn(name)).toEqual([3]);
    expect(inLog()).toEqual([0, 1, 2]);
    double.log.scavenge();
    expect(inLog()).toEqual([2]);
    expect(await numbersIn(name)).toEqual([3]);
    await client.appendToStream(name, numbered(4), { expectedRevision: 2n });
    expect(await numbersIn(name)).toEqual([4]);
  });
});

/** A separate server with its own commit delay. */
async function unkind(delayMs?: number) {
  const own = await EventStoreDbDouble.start();
  if (delayMs !== undefined) own.commits.delayMs = () => delayMs;
  const ownClient = EventStoreDBClient.connectionString(own.connectionString);
  return {
    double: own,
    client: ownClient,
    [Symbol.asyncDispose]: async () => {
      await ownClient.dispose();
      await own.close();
    },
  };
}
