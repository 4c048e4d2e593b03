import { describe, expect, it, jest } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { eventsOf } from '../../../test/support/turns.js';
import type { Recorded } from '../../kernel/event-sourcing/events.js';
import type { Notification } from '../../kernel/event-sourcing/notifications.js';
import { deterministicId } from '../../kernel/ids.js';
import { Streams } from '../../kernel/event-sourcing/streams.js';
import { InProcessSignals } from '../../platform/messaging/signals/in-process-signals.js';
import { systemTiming } from '../../platform/system-timing.js';
import { userStream } from './user.events.js';
import { userEventsOptions } from '../../../test/support/user-events.js';
import { EVENTS_REMEMBERED_MAX, TOGETHER_MAX, UserJournal } from './user-journal.js';

const stream = userStream('ann');
const journalOver = (store: InMemoryEventStore) =>
  new UserJournal(store, new Streams(store, systemTiming), new InProcessSignals(), userEventsOptions());

/** The journal of a process that fails at an append with an unknown outcome. */
const dyingJournalOver = (store: InMemoryEventStore, options = userEventsOptions()) =>
  new UserJournal(store, new Streams(store, systemTiming, 0), new InProcessSignals(), options);

const marked = (id: string): Notification => ({
  type: 'conversation.mark',
  scope: { kind: 'conversation', id },
  payload: { conversation_id: id, mark: 'running' },
});

/** A source event in the log. */
async function happened(store: InMemoryEventStore, name: string): Promise<Recorded> {
  const id = deterministicId(name);
  await store.append(`conversation-${name}`, 'none', [{ id, type: 'Happened', data: '{}', metadata: '{}' }]);
  const [stored] = await eventsOf(store, `conversation-${name}`);
  const cause = { actor: 'user:ann', credential: 'session-token', correlationId: 'r1', causationId: 'r1' } as const;
  return { ...stored!, data: {}, cause };
}

const told = async (store: InMemoryEventStore): Promise<string[]> =>
  (await eventsOf(store, stream)).map(({ data }) => (JSON.parse(data) as { scope: { id: string } }).scope.id);

const tell = (journal: UserJournal, event: Recorded, name: string) => journal.notify('ann', event, async () => marked(name));

describe('a notification', () => {
  it('is stored as it is sent, with its time and revision as id', async () => {
    const store = new InMemoryEventStore();
    const journal = journalOver(store);
    for (const name of ['a', 'b']) await tell(journal, await happened(store, name), name);
    const events = await eventsOf(store, stream);
    expect(events.map(({ data }) => data)).toEqual(
      events.map(({ revision }, at) => {
        const { ts } = JSON.parse(events[at]!.data) as { ts: string };
        const name = 'ab'[at];
        return (
          `{"type":"conversation.mark","ts":"${ts}","user_id":"ann","topic":"user:ann",` +
          `"scope":{"kind":"conversation","id":"${name}"},"payload":{"conversation_id":"${name}","mark":"running"},` +
          `"id":"${Date.parse(ts)}-${revision}"}`
        );
      }),
    );
  });

  it('is distinguished by its name from others of the same event, and has the original id without a name', async () => {
    const store = new InMemoryEventStore();
    const event = await happened(store, 'a');
    for (const journal of [journalOver(store), journalOver(store)]) {
      for (const name of [undefined, 'one', 'other']) await journal.notify('ann', event, async () => marked(name ?? 'a'), name);
    }
    expect(await told(store)).toEqual(['a', 'one', 'other']);
    expect((await eventsOf(store, stream))[0]!.id).toBe(deterministicId('user-event', event.id));
  });

  it('has a later id than those before it, also if its source event is older', async () => {
    let now = 2_000;
    const store = new InMemoryEventStore({ now: () => new Date((now -= 500)) });
    const journal = journalOver(store);
    for (const name of ['a', 'b']) await tell(journal, await happened(store, name), name);
    const ids = (await eventsOf(store, stream)).map(({ data }) => (JSON.parse(data) as { id: string }).id);
    expect(ids).toEqual(['1500-0', '1500-1']);
  });

  it('is written once by one process for repeated calls', async () => {
    const store = new InMemoryEventStore();
    const journal = journalOver(store);
    const events = await Promise.all(['a', 'b', 'c'].map(async (name) => [await happened(store, name), name] as const));
    for (let time = 0; time < 3; time++) await Promise.all(events.map(([event, name]) => tell(journal, event, name)));
    expect((await told(store)).sort()).toEqual(['a', 'b', 'c']);
  });

  it('is written together with others that wait, also if one of them cannot be composed', async () => {
    const store = new InMemoryEventStore();
    const journal = journalOver(store);
    const names = Array.from({ length: 2 * TOGETHER_MAX }, (_, index) => `n${index}`);
    const events = await Promise.all(names.map(async (name) => [await happened(store, name), name] as const));
    const appends = jest.spyOn(store, 'append');
    const outcomes = await Promise.allSettled(
      events.map(([event, name]) =>
        journal.notify('ann', event, () =>
          name === 'n5' ? Promise.reject(new Error('Not to be said.')) : Promise.resolve(marked(name)),
        ),
      ),
    );
    expect(outcomes.flatMap(({ status }, at) => (status === 'rejected' ? [names[at]] : []))).toEqual(['n5']);
    expect(await told(store)).toEqual(names.filter((name) => name !== 'n5'));
    // The first one is written alone, because no other was waiting.
    expect(appends).toHaveBeenCalledTimes(3);
    await tell(journal, events[5]![0], 'n5');
    expect((await told(store)).at(-1)).toBe('n5');
  });

  it('is written once by two concurrent processes', async () => {
    const store = new InMemoryEventStore();
    const [one, other] = [journalOver(store), journalOver(store)];
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const events = await Promise.all(names.map(async (name) => [await happened(store, name), name] as const));
    await Promise.all([one, other].flatMap((journal) => events.map(([event, name]) => tell(journal, event, name))));
    await Promise.all([journalOver(store), one].flatMap((journal) => events.map(([event, name]) => tell(journal, event, name))));
    expect((await told(store)).sort()).toEqual([...names].sort());
  });

  it.each(['before', 'after'] as const)(
    'is written once if its append is lost %s the write, in this process or the next',
    async (when) => {
      const store = new InMemoryEventStore();
      const journal = dyingJournalOver(store);
      await tell(journal, await happened(store, 'a'), 'a');
      const [b, c] = [await happened(store, 'b'), await happened(store, 'c')];
      for (const [event, name] of [
        [b, 'b'],
        [c, 'c'],
      ] as const) {
        store.failNextAppend(when);
        await expect(tell(journal, event, name)).rejects.toThrow('was lost');
        await tell(name === 'b' ? journal : journalOver(store), event, name);
      }
      expect(await told(store)).toEqual(['a', 'b', 'c']);
    },
  );

  it('is composed again after a conflict, and dropped if there is nothing to report any more', async () => {
    const store = new InMemoryEventStore();
    const [one, other] = [journalOver(store), journalOver(store)];
    const [progress, end] = [await happened(store, 'progress'), await happened(store, 'end')];
    let asked = 0;
    await one.notify('ann', progress, async () => {
      if (++asked === 1) await tell(other, end, 'end');
      return asked === 1 ? marked('progress') : undefined;
    });
    expect([asked, await told(store)]).toEqual([2, ['end']]);
  });

  it('is not written again after it was trimmed from the backlog', async () => {
    const store = new InMemoryEventStore();
    const options = userEventsOptions({ eventsMax: 10 });
    const journal = new UserJournal(store, new Streams(store, systemTiming), new InProcessSignals(), options);
    const first = await happened(store, 'first');
    await tell(journal, first, 'first');
    for (let count = 0; count < 10; count++) await tell(journal, await happened(store, `n${count}`), `n${count}`);
    await tell(new UserJournal(store, new Streams(store, systemTiming), new InProcessSignals(), options), first, 'first');
    await tell(journal, first, 'first');
    expect(await told(store)).toEqual(Array.from({ length: 10 }, (_, index) => `n${index}`));
  });

  it('is written at any distance from its source event in the log and the backlog', async () => {
    const store = new InMemoryEventStore();
    const options = userEventsOptions({ eventsMax: 10 });
    const journal = () => new UserJournal(store, new Streams(store, systemTiming), new InProcessSignals(), options);
    const names = Array.from({ length: 35 }, (_, index) => `n${index}`);
    const events = await Promise.all(names.map(async (name) => [await happened(store, name), name] as const));
    const [one, next] = [journal(), journal()];
    for (const [event, name] of events.slice(0, 20)) await tell(one, event, name);
    // Some of these were written by the previous process, and the others were not.
    for (const [event, name] of events.slice(5)) await tell(next, event, name);
    expect(await told(store)).toEqual(names.slice(-10));
    expect((await eventsOf(store, stream)).at(-1)!.revision).toBe(names.length - 1);
  });

  it('is recognised as written when it is no longer cached', async () => {
    const store = new InMemoryEventStore();
    const journal = journalOver(store);
    const first = await happened(store, 'first');
    await tell(journal, first, 'first');
    for (let count = 0; count <= EVENTS_REMEMBERED_MAX; count++)
      await tell(journal, await happened(store, `n${count}`), `n${count}`);
    await tell(journal, first, 'first');
    expect((await told(store)).filter((name) => name === 'first')).toEqual(['first']);
  });
});

it('limits the events of a user, also if the process crashes right after the first', async () => {
  const store = new InMemoryEventStore();
  const journal = dyingJournalOver(store, userEventsOptions({ eventsMax: 3 }));
  const first = await happened(store, 'a');
  store.failNextAppend('after');
  await expect(tell(journal, first, 'a')).rejects.toThrow('was lost');
  const next = new UserJournal(
    store,
    new Streams(store, systemTiming),
    new InProcessSignals(),
    userEventsOptions({ eventsMax: 3 }),
  );
  for (const name of ['b', 'c', 'd', 'e']) await tell(next, await happened(store, name), name);
  expect(await told(store)).toEqual(['c', 'd', 'e']);
});

it('a stream has a valid name for any id of a user', async () => {
  const ids = ['ann', 'ann@example.org', 'a-b', '../../etc', '$admin', 'ツ', ' '.repeat(5), 'x'.repeat(10_000)];
  const names = ids.map(userStream);
  expect(new Set(names).size).toBe(ids.length);
  for (const name of names) expect(name).toMatch(/^user-[0-9a-f-]{36}$/);
});
