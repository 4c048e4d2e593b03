import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../../test/contracts/event-store.subject.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import { BlobMissing, type BlobRef } from '../../kernel/blobs.js';
import { type Codec, decode, encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { type EventStore, lastEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { newId } from '../../kernel/ids.js';
import { type RunForgotten, runStream } from '../../background/runs/run.events.js';
import { type TaskForgotten, taskStream } from '../tasks/task.events.js';
import { RESULT_INLINE_BYTES_MAX } from '../tasks/task.policy.js';
import { loadResult, storeResult } from '../tasks/task-result.js';
import { type DeliveryAccepted, deliveryStream } from '../../triggers/webhooks/delivery.events.js';
import { CutOffForgotten } from './cut-off-forgotten.reaction.js';

let store: EventStore;
let blobs: InMemoryBlobs;
let reaction: CutOffForgotten;
beforeEach(() => {
  store = new InMemoryEventStore();
  blobs = new InMemoryBlobs();
  reaction = new CutOffForgotten(store, blobs);
});

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

it('a task goes with its result, and leaves that of another alone, also after a crash in the middle', async () => {
  const large = 'x'.repeat(RESULT_INLINE_BYTES_MAX);
  const [own, other] = [await storeResult(blobs, 'own', large), await storeResult(blobs, 'other', large)];
  const result = (own as { blob: BlobRef }).blob;
  const task = taskStream('own');
  await told(task, { type: 'TaskSucceeded', data: { taskId: 'own', attempt: 1, result: own } });
  const data = { taskId: 'own', kind: 'k', ownerId: 'ann', result };
  const event = await told<TaskForgotten>(task, { type: 'TaskForgotten', data });
  const setRetention = store.setRetention.bind(store);
  store.setRetention = () => Promise.reject(new Error('Killed.'));
  await expect(reaction.on.TaskForgotten(event)).rejects.toThrow('Killed.');
  expect(await left(task)).toEqual([0, 1]);
  store.setRetention = setRetention;
  await reaction.on.TaskForgotten(event);
  expect(await left(task)).toEqual([1]);
  await expect(loadResult(blobs, own)).rejects.toThrow(BlobMissing);
  expect(await loadResult(blobs, other)).toBe(large);
});

it('a stream is cut off before the fact that it is forgotten, once and again', async () => {
  const task = taskStream('t');
  await told(task, { type: 'TaskQueued', data: { taskId: 't', kind: 'k', ownerId: 'ann', input: {} } });
  const data = { taskId: 't', kind: 'k', ownerId: 'ann', result: null };
  const event = await told<TaskForgotten>(task, { type: 'TaskForgotten', data });
  await reaction.on.TaskForgotten(event);
  await reaction.on.TaskForgotten(event);
  expect(await left(task)).toEqual([1]);
});

describe('deliveries under one key', () => {
  it('go with their runs, and those whose runs are kept stay, with all after them', async () => {
    for (const run of ['one', 'two', 'three']) {
      await delivered(run);
      await told(runStream(run), { type: 'RunQueued', data: { runId: run } });
    }
    await reaction.on.RunForgotten(await forgotten('two', 1));
    expect([await left(stream), await left(runStream('two'))]).toEqual([[0, 1, 2], [1]]);
    const one = await forgotten('one', 0);
    await reaction.on.RunForgotten(one);
    await reaction.on.RunForgotten(one);
    expect([await left(stream), await left(runStream('one'))]).toEqual([[2], [1]]);
    await reaction.on.RunForgotten(await forgotten('three', 2));
    expect(await left(stream)).toEqual([]);
  });
});
