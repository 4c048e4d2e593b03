import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { userEventsOptions } from '../../../test/support/user-events.js';
import { REVISION_MAX } from '../../kernel/event-sourcing/event-store.js';
import { newId } from '../../kernel/ids.js';
import { UserBacklog } from './user-backlog.js';
import { idIn, userEventText } from './user-event.policy.js';
import { USER_EVENT, userStream } from './user.events.js';

const NOW = 1_000_000;
const AGE_MAX_MS = 1_000;
const stream = userStream('ann');

/** A backlog of events at these milliseconds, of which the newest `kept` are stored. */
async function backlogOf(millis: readonly number[], kept = Infinity): Promise<UserBacklog> {
  const store = new InMemoryEventStore();
  const events = millis.map((at, revision) => {
    const notification = {
      type: 'conversation.mark',
      scope: { kind: 'conversation', id: 'c' },
      payload: { conversation_id: 'c', mark: null },
    } as const;
    const data = userEventText(notification, 'ann', { millis: at, revision });
    return { id: newId(), type: USER_EVENT, data, metadata: '{}' };
  });
  if (events.length > 0) await store.append(stream, 'none', events);
  await store.setRetention(stream, { maxCount: kept });
  return new UserBacklog(store, { now: () => new Date(NOW) }, userEventsOptions({ ageMaxMs: AGE_MAX_MS }));
}

const at = async (backlog: UserBacklog, cursor: string | undefined) => {
  const { after, truncated } = await backlog.beginning(stream, cursor === undefined ? undefined : idIn(cursor));
  return truncated ? [after, truncated.resumeAt, truncated.oldest] : after;
};
const id = (millis: number, revision: number) => ({ millis, revision });

it.each(['5-99999999999', `5-${'9'.repeat(40)}`])('the cursor %s becomes a revision that a store accepts', (cursor) =>
  expect(idIn(cursor)!.revision).toBeLessThanOrEqual(REVISION_MAX),
);

describe('in the backlog of a user without events', () => {
  it.each([undefined, '0-0', '5', '999999999-3'])('a connection with the cursor %s begins at the start', async (cursor) =>
    expect(await at(await backlogOf([]), cursor)).toBe(-1),
  );
});

describe('in a complete backlog with two events in one millisecond', () => {
  const whole = [NOW - 30, NOW - 20, NOW - 20, NOW - 10];
  it.each([
    ['none', undefined, 3],
    ['0-0', '0-0', -1],
    ['0', '0', -1],
    ['the first', `${NOW - 30}-0`, 0],
    ['the first of the millisecond', `${NOW - 20}-1`, 1],
    ['the second of the millisecond', `${NOW - 20}-2`, 2],
    ['the millisecond alone', `${NOW - 20}`, 0],
    ['a time between two', `${NOW - 25}-7`, 0],
    ['the last', `${NOW - 10}-3`, 3],
    ['a future one of the last millisecond', `${NOW - 10}-9`, 3],
    ['one of the future', `${NOW + 999_999}-0`, 3],
    ['a future revision at an earlier time', `${NOW - 25}-999`, 0],
    ['numbers that are too large', `${'9'.repeat(40)}-${'9'.repeat(40)}`, 3],
  ])('the cursor %s is found', async (_, cursor, after) => expect(await at(await backlogOf(whole), cursor)).toBe(after));
});

describe('in a backlog whose older half was trimmed', () => {
  const millis = [NOW - 60, NOW - 50, NOW - 40, NOW - 30, NOW - 20, NOW - 10];
  const truncated = [2, id(NOW - 30, 2), id(NOW - 30, 3)];
  it.each([
    ['0-0', '0-0', truncated],
    ['one that was trimmed', `${NOW - 60}-0`, truncated],
    ['the last that was trimmed, after which nothing is missing', `${NOW - 40}-2`, 2],
    ['the oldest stored one', `${NOW - 30}-3`, 3],
    ['where a truncated client is told to resume', `${NOW - 30}-2`, 2],
    ['the newest', `${NOW - 10}-5`, 5],
    ['one of the future', `${NOW}-9`, 5],
    ['none', undefined, 5],
  ])('the cursor %s', async (_, cursor, expected) => expect(await at(await backlogOf(millis, 3), cursor)).toEqual(expected));
});

describe('in a backlog whose older half is too old', () => {
  const millis = [NOW - 3_000, NOW - 2_000, NOW - 1_001, NOW - 1_000, NOW - 10];
  const truncated = [2, id(NOW - 1_000, 2), id(NOW - 1_000, 3)];
  it.each([
    ['0-0', '0-0', truncated],
    ['one that is too old', `${NOW - 3_000}-0`, truncated],
    ['the last that is too old, after which nothing is missing', `${NOW - 1_001}-2`, 2],
    ['the newest', `${NOW - 10}-4`, 4],
  ])('the cursor %s', async (_, cursor, expected) => expect(await at(await backlogOf(millis), cursor)).toEqual(expected));
  it('all events can be too old, and the client continues with new ones', async () => {
    const old = await backlogOf([NOW - 3_000, NOW - 2_000]);
    expect(await at(old, `${NOW - 3_000}-0`)).toEqual([1, id(NOW - 2_000, 1), undefined]);
    expect(await at(old, `${NOW - 2_000}-1`)).toBe(1);
  });
});

it.each(['', 'x', '-', '1-', '-1', '1-2-3', '1.5', '1e3', '0x1', '１', '1-x', '1 2', '\n'])('%j is not an id', (text) =>
  expect(idIn(text)).toBeUndefined(),
);
