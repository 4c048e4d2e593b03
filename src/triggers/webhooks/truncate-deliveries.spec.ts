import { expect, it } from '@jest/globals';
import { eventsOf } from '../../../test/contracts/event-store.subject.js';
import { commandsOver } from '../../../test/support/commands-over.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import { type RunPurged, runStream } from '../../background/runs/run.events.js';
import { type Codec, decode, encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { newId } from '../../kernel/ids.js';
import { systemTiming } from '../../platform/system-timing.js';
import { PurgeDeliveriesHandler } from './delivery.commands.js';
import { TruncateDeliveries } from './truncate-deliveries.reaction.js';
import { type DeliveryAccepted, deliveryStream } from './delivery.events.js';

const store = new InMemoryEventStore();
const purging = new PurgeDeliveriesHandler(new Streams(store, systemTiming), { now: () => new Date() });
const reaction = new TruncateDeliveries(store, commandsOver(purging));

async function told<E extends Event>(stream: string, event: E): Promise<Recorded<E>> {
  const expected = (await lastEvent(store, stream))?.revision ?? 'none';
  const { type, data } = event;
  await store.append(stream, expected, [{ id: newId(), type, data: JSON.stringify(data), metadata: encodeMetadata(cause) }]);
  return decode<E>({ [type]: [] } as unknown as Codec<E>, (await lastEvent(store, stream))!) as Recorded<E>;
}
const left = async (stream: string) => (await eventsOf(store.read(stream))).map(({ revision, type }) => `${revision} ${type}`);

const stream = deliveryStream('key');
const delivered = (taskId: string) =>
  told<DeliveryAccepted>(stream, {
    type: 'DeliveryAccepted',
    data: { agentId: 'a', ownerId: 'ann', taskId, fingerprint: 'f', acceptedAt: '', input: '{}' },
  });
const purged = (runId: string, revision: number) =>
  told<RunPurged>(runStream(runId), {
    type: 'RunPurged',
    data: {
      runId,
      ownerId: 'ann',
      agentId: 'a',
      trigger: 'webhook',
      delivery: { stream, revision },
      used: [],
      purgedAt: '',
    },
  });

const run = async (runId: string) => {
  await delivered(runId);
  await told(runStream(runId), { type: 'RunQueued', data: { runId } });
};

it('deliveries under one key are removed with their runs up to the first one whose run is kept', async () => {
  for (const runId of ['one', 'two', 'three']) await run(runId);
  const accepted = [0, 1, 2].map((revision) => `${revision} DeliveryAccepted`);
  await reaction.on.RunPurged(await purged('two', 1));
  expect(await left(stream)).toEqual(accepted);
  const one = await purged('one', 0);
  await reaction.on.RunPurged(one);
  await reaction.on.RunPurged(one);
  expect(await left(stream)).toEqual(accepted.slice(2));
});

it('the newest event of a stream without deliveries is the record of their purge, which stays until the next one', async () => {
  const three = await purged('three', 2);
  await reaction.on.RunPurged(three);
  await reaction.on.RunPurged(three);
  expect(await left(stream)).toEqual(['2 DeliveryAccepted', '3 DeliveriesPurged']);
  for (const runId of ['four', 'five']) await run(runId);
  await reaction.on.RunPurged(await purged('four', 4));
  const kept = ['3 DeliveriesPurged', '4 DeliveryAccepted', '5 DeliveryAccepted'];
  expect(await left(stream)).toEqual(kept);
  await reaction.on.RunPurged(await purged('five', 5));
  expect(await left(stream)).toEqual([...kept, '6 DeliveriesPurged']);
});
