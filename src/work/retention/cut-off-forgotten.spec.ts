import { beforeEach, expect, it } from '@jest/globals';
import { eventsOf } from '../../../test/contracts/event-store.subject.js';
import { InMemoryBlobs } from '../../../test/support/in-memory-blobs.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { cause } from '../../../test/support/turns.js';
import { BlobMissing, type BlobRef } from '../../kernel/blobs.js';
import { type Codec, decode, encodeMetadata } from '../../kernel/event-sourcing/codec.js';
import { type EventStore, lastEvent } from '../../kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../kernel/event-sourcing/events.js';
import { newId } from '../../kernel/ids.js';
import { type TaskForgotten, taskStream } from '../tasks/task.events.js';
import { RESULT_INLINE_BYTES_MAX } from '../tasks/task.policy.js';
import { loadResult, storeResult } from '../tasks/task-result.js';
import { CutOffForgotten } from './cut-off-forgotten.reaction.js';
import { Purges } from './purges.js';
import { taskPurges } from '../tasks/task.purges.js';
import { wakePurges } from '../../background/follow-ups/expired-wakes.purges.js';
import type { WakesExpired } from '../../background/follow-ups/expired-wakes.events.js';
import { wakesStream } from '../../background/follow-ups/wakes.events.js';

let store: EventStore;
let blobs: InMemoryBlobs;
let reaction: CutOffForgotten;
beforeEach(() => {
  store = new InMemoryEventStore();
  blobs = new InMemoryBlobs();
  reaction = new CutOffForgotten(store, blobs, new Purges([...taskPurges, ...wakePurges]));
});

async function told<E extends Event>(stream: string, event: E): Promise<Recorded<E>> {
  const expected = (await lastEvent(store, stream))?.revision ?? 'none';
  const { type, data } = event;
  await store.append(stream, expected, [{ id: newId(), type, data: JSON.stringify(data), metadata: encodeMetadata(cause) }]);
  return decode<E>({ [type]: [] } as unknown as Codec<E>, (await lastEvent(store, stream))!) as Recorded<E>;
}
const react = (event: Recorded) => reaction.on[event.type]!(event, new AbortController().signal);
const left = async (stream: string) => (await eventsOf(store.read(stream))).map(({ revision }) => revision);

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
  await expect(react(event)).rejects.toThrow('Killed.');
  expect(await left(task)).toEqual([0, 1]);
  store.setRetention = setRetention;
  await react(event);
  expect(await left(task)).toEqual([1]);
  await expect(loadResult(blobs, own)).rejects.toThrow(BlobMissing);
  expect(await loadResult(blobs, other)).toBe(large);
});

it('a stream is cut off before the fact that it is forgotten, once and again', async () => {
  const task = taskStream('t');
  await told(task, { type: 'TaskQueued', data: { taskId: 't', kind: 'k', ownerId: 'ann', input: {} } });
  const data = { taskId: 't', kind: 'k', ownerId: 'ann', result: null };
  const event = await told<TaskForgotten>(task, { type: 'TaskForgotten', data });
  await react(event);
  await react(event);
  expect(await left(task)).toEqual([1]);
});

it('an event may say that another stream is cut off', async () => {
  for (const wake of [1, 2]) await told(wakesStream('c1'), { type: 'WakeRequested', data: { wake } });
  const event = await told<WakesExpired>('expiredWakes-c1', {
    type: 'WakesExpired',
    data: { conversationId: 'c1', before: 1 } as WakesExpired['data'],
  });
  await react(event);
  expect([await left(wakesStream('c1')), await left('expiredWakes-c1')]).toEqual([[1], [0]]);
});
