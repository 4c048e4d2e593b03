import { beforeEach, expect, it } from '@jest/globals';
import { CountedReads } from '../../../test/support/counted-reads.js';
import { userEventsOptions } from '../../../test/support/user-events.js';
import { react, reactionOver, record, notificationsOf } from '../../../test/support/user-reactions.js';
import type { Event } from '../../kernel/event-sourcing/events.js';
import { type NotificationRule, notificationRule, subjectOf } from '../../kernel/event-sourcing/notifications.js';
import { NotificationRules } from './notification-rules.js';
import { folded } from './notified-streams.js';

type Grown = Event<'Grown', { by: number }>;
type Named = Event<'Named', { ownerId: string }>;
type Plant = Readonly<{ ownerId: string | undefined; height: number }>;

const plants = {
  category: 'plant',
  codec: { Named: [], Grown: [] },
  initial: { ownerId: undefined, height: 0 },
  evolve: (plant: Plant, event: Named | Grown): Plant =>
    event.type === 'Named' ? { ...plant, ...event.data } : { ...plant, height: plant.height + event.data.by },
  ownerOf: ({ ownerId }: Plant) => ownerId,
};
const scope = { kind: 'plant', id: 'p' };
const grown = (before: Plant, after: Plant) => [
  { notification: { type: 'plant.grown', scope, payload: { from: before.height, to: after.height } } },
];
const named: Named = { type: 'Named', data: { ownerId: 'ann' } };
const grownBy = (by: number): Grown => ({ type: 'Grown', data: { by } });
const stream = 'plant-p';

let store: CountedReads;
beforeEach(() => void (store = new CountedReads()));

/** The payloads that a rule sends to ann for the plant's events from a revision on, and the number of events read for them. */
async function reportedBy(rule: NotificationRule, from = 0) {
  const reaction = reactionOver(store, userEventsOptions(), new NotificationRules([rule]));
  const events = (await notificationsOf(store, 'ann')).length;
  store.events = 0;
  await react(reaction, store, stream, from);
  const read = store.events;
  return { payloads: (await notificationsOf(store, 'ann')).slice(events).map(({ payload }) => payload), read };
}

const noticesOf = (_: unknown, before: Plant, after: Plant) => grown(before, after);

it('a rule gets the states before and after its event', async () => {
  const rule = notificationRule({ ...plants, about: ['Grown'], noticesOf });
  await record(store, stream, named, grownBy(1), grownBy(2), grownBy(4));
  expect((await reportedBy(rule, 2)).payloads).toEqual([
    { from: 1, to: 3 },
    { from: 3, to: 7 },
  ]);
});

it('a stream with a cached state is read once, and again after a gap', async () => {
  const cached = notificationRule({ ...plants, about: ['Named', 'Grown'], cachedMax: 1, noticesOf });
  const uncached = notificationRule({ ...plants, about: ['Named', 'Grown'], noticesOf });
  await record(store, stream, named, ...Array.from({ length: 20 }, () => grownBy(1)));
  const { payloads, read } = await reportedBy(cached, 10);
  expect(payloads.at(-1)).toEqual({ from: 19, to: 20 });
  const last = await reportedBy(uncached, 10);
  expect(last.payloads).toEqual([]);
  expect(last.read).toBeGreaterThan(read + 100);
});

it('no more of a stream is read than its rule allows', async () => {
  const rule = notificationRule({ ...plants, about: ['Grown'], foldedMax: 1, noticesOf });
  await record(store, stream, named, ...Array.from({ length: 20 }, () => grownBy(1)));
  expect((await reportedBy(rule, 20)).payloads).toEqual([{ from: 0, to: 0 }]);
});

it('events without an owner notify no user', async () => {
  const rule = notificationRule({ ...plants, about: ['Grown'], noticesOf });
  await record(store, stream, grownBy(1));
  expect((await reportedBy(rule)).payloads).toEqual([]);
});

it('the subject of a notification is read to its end, and can suppress the notification', async () => {
  const bed = {
    codec: plants.codec,
    initial: 0,
    evolve: (height: number, event: Named | Grown) => (event.type === 'Grown' ? event.data.by : height),
  };
  const notification = (height: number) => (height > 5 ? undefined : { type: 'bed.grown', scope, payload: { height } });
  const rule = notificationRule({
    ...plants,
    about: ['Grown'],
    noticesOf: () => [{ subject: subjectOf({ ...bed, stream: 'plant-bed', notification }) }],
  });
  await record(store, stream, named, grownBy(1), grownBy(1));
  await record(store, 'plant-bed', grownBy(1), grownBy(2));
  expect((await reportedBy(rule)).payloads).toEqual([{ height: 2 }, { height: 2 }]);
  await record(store, stream, grownBy(1));
  await record(store, 'plant-bed', grownBy(9));
  expect((await reportedBy(rule, 3)).payloads).toEqual([]);
});

it('a state before an event contains no later events, also when a purge has deleted the first events of the stream', async () => {
  await record(store, stream, named, grownBy(1), grownBy(2), grownBy(4), grownBy(8));
  await store.setRetention(stream, { truncateBefore: 2 });
  const at = async (revision: number) => ((await folded(store, stream, plants, revision)) as Plant).height;
  expect([await at(2), await at(3), await at(4)]).toEqual([0, 2, 6]);
});
