import { expect, it } from '@jest/globals';
import { eventsOf } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import { type RunPurged, runStream } from '../../background/runs/run.events.js';
import { type Codec, decode, encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { newId } from '../../kernel/ids.js';
import { TruncateDeliveries } from './truncate-deliveries.reaction.js';
import { type DeliveryAccepted, deliveryStream } from './delivery.events.js';

const store = new InMemoryEventStore();
const reaction = new TruncateDeliveries(store);

async function told<E extends Event>(stream: string, event: E): Promise<Recorded<E>> {
  const expected = (await lastEvent(store, stream))?.revision ?? 'none';
  const { type, data } = event;
  await store.append(stream, expected, [{ id: newId(), type, data: JSON.stringify(data), metadata: encodeMetadata(cause) }]);
  return decode<E>({ [type]: [] } as unknown as Codec<E>, (await lastEvent(store, stream))!) as Recorded<E>;
}
const left = async (stream: string) => (await eventsOf(store.read(stream))).map(({ revision }) => revision);

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

it('deliveries under one key are removed with their runs up to the first one whose run is kept', async () => {
  for (const run of ['one', 'two', 'three']) {
    await delivered(run);
    await told(runStream(run), { type: 'RunQueued', data: { runId: run } });
  }
  await reaction.on.RunPurged(await purged('two', 1));
  expect(await left(stream)).toEqual([0, 1, 2]);
  const one = await purged('one', 0);
  await reaction.on.RunPurged(one);
  await reaction.on.RunPurged(one);
  expect(await left(stream)).toEqual([2]);
  await reaction.on.RunPurged(await purged('three', 2));
  expect(await left(stream)).toEqual([]);
});
