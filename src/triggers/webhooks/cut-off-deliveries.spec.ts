import { expect, it } from '@jest/globals';
import { eventsOf } from '../../../test/contracts/event-store.subject.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import { type RunForgotten, runStream } from '../../background/runs/run.events.js';
import { type Codec, decode, encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { lastEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { newId } from '../../kernel/ids.js';
import { CutOffDeliveries } from './cut-off-deliveries.reaction.js';
import { type DeliveryAccepted, deliveryStream } from './delivery.events.js';

const store = new InMemoryEventStore();
const reaction = new CutOffDeliveries(store);

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
const forgotten = (runId: string, revision: number) =>
  told<RunForgotten>(runStream(runId), {
    type: 'RunForgotten',
    data: {
      runId,
      ownerId: 'ann',
      agentId: 'a',
      trigger: 'webhook',
      delivery: { stream, revision },
      used: [],
      forgottenAt: '',
    },
  });

it('deliveries under one key go with their runs, and those whose runs are kept stay, with all after them', async () => {
  for (const run of ['one', 'two', 'three']) {
    await delivered(run);
    await told(runStream(run), { type: 'RunQueued', data: { runId: run } });
  }
  await reaction.on.RunForgotten(await forgotten('two', 1));
  expect(await left(stream)).toEqual([0, 1, 2]);
  const one = await forgotten('one', 0);
  await reaction.on.RunForgotten(one);
  await reaction.on.RunForgotten(one);
  expect(await left(stream)).toEqual([2]);
  await reaction.on.RunForgotten(await forgotten('three', 2));
  expect(await left(stream)).toEqual([]);
});
