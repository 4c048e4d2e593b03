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
import { type TaskPurged, taskStream } from '../tasks/task.events.js';
import { INLINE_BYTES_MAX } from '../../kernel/own-blobs.js';
import { loadResult, storeResult } from '../tasks/task-result.js';
import { TruncatePurged } from './truncate-purged.reaction.js';
import { Purges } from './purges.js';
import { taskPurges } from '../tasks/task.purges.js';
import { followUpPurges } from '../../background/follow-ups/expired-follow-ups.purges.js';
import type { FollowUpsExpired } from '../../background/follow-ups/expired-follow-ups.events.js';
import { followUpsStream } from '../../background/follow-ups/follow-ups.events.js';

let store: EventStore;
let blobs: InMemoryBlobs;
let reaction: TruncatePurged;
beforeEach(() => {
  store = new InMemoryEventStore();
  blobs = new InMemoryBlobs();
  reaction = new TruncatePurged(store, blobs, new Purges([...taskPurges, ...followUpPurges]));
});

async function told<E extends Event>(stream: string, event: E): Promise<Recorded<E>> {
  const expected = (await lastEvent(store, stream))?.revision ?? 'none';
  const { type, data } = event;
  await store.append(stream, expected, [{ id: newId(), type, data: JSON.stringify(data), metadata: encodeMetadata(cause) }]);
  return decode<E>({ [type]: [] } as unknown as Codec<E>, (await lastEvent(store, stream))!) as Recorded<E>;
}
const react = (event: Recorded) => reaction.on[event.type]!(event, new AbortController().signal);
const left = async (stream: string) => (await eventsOf(store.read(stream))).map(({ revision }) => revision);

it('the purge of a task deletes its result and no other, also after a crash in between', async () => {
  const large = 'x'.repeat(INLINE_BYTES_MAX);
  const [own, other] = [await storeResult(blobs, 'own', 1, large), await storeResult(blobs, 'other', 1, large)];
  const result = (own as { blob: BlobRef }).blob;
  const task = taskStream('own');
  await told(task, { type: 'TaskSucceeded', data: { taskId: 'own', attempt: 1, result: own } });
  const data = { taskId: 'own', kind: 'k', ownerId: 'ann', result };
  const event = await told<TaskPurged>(task, { type: 'TaskPurged', data });
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

it('a stream is truncated before its purge event, also when the reaction runs twice', async () => {
  const task = taskStream('t');
  await told(task, { type: 'TaskQueued', data: { taskId: 't', kind: 'k', ownerId: 'ann', input: {} } });
  const data = { taskId: 't', kind: 'k', ownerId: 'ann', result: null };
  const event = await told<TaskPurged>(task, { type: 'TaskPurged', data });
  await react(event);
  await react(event);
  expect(await left(task)).toEqual([1]);
});

it('a purge event may have another stream truncated', async () => {
  for (const followUp of [1, 2]) await told(followUpsStream('c1'), { type: 'FollowUpRequested', data: { followUp } });
  const event = await told<FollowUpsExpired>('expiredFollowUps-c1', {
    type: 'FollowUpsExpired',
    data: { conversationId: 'c1', before: 1 } as FollowUpsExpired['data'],
  });
  await react(event);
  expect([await left(followUpsStream('c1')), await left('expiredFollowUps-c1')]).toEqual([[1], [0]]);
});
