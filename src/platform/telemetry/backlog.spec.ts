import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { append, opened } from '../../../test/support/accounts.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { LOG_START, type LogReading, StoreUnavailable } from '../../kernel/event-sourcing/event-store.js';
import { Backlog } from './backlog.js';

const ACCOUNTS = { categories: ['account'] };

describe('the backlog of a follower', () => {
  let now: Date;
  let store: InMemoryEventStore;
  let backlog: Backlog;
  /** The positions from which the log was read. */
  let readFrom: bigint[];
  beforeEach(() => {
    store = new InMemoryEventStore({ now: () => now });
    backlog = new Backlog(store, (name) => (name === 'accounts' ? ACCOUNTS : undefined));
    readFrom = [];
    const readAll = store.readAll.bind(store);
    jest.spyOn(store, 'readAll').mockImplementation((reading: LogReading) => {
      readFrom.push(reading.after);
      return readAll(reading);
    });
  });

  const at = (second: number, stream: string) => {
    now = new Date(second * 1000);
    return append(store, stream, opened('a'));
  };
  /** The second of the oldest event that a follower at this position has not handled. */
  const secondOf = async (position: bigint | undefined, name = 'accounts', head?: bigint) => {
    const reports: (number | null)[] = [];
    await backlog.find([{ name, position }], head ?? (await store.head()), (_, oldest) =>
      reports.push(oldest && oldest.getTime() / 1000),
    );
    return reports[0];
  };

  it('is empty while the log has only events that it does not want after its position', async () => {
    const handled = await at(1, 'account-1');
    await at(2, 'message-1');
    await at(3, 'other-1');
    expect(await secondOf(handled)).toBeNull();
  });

  it('begins with the oldest event that it wants after its position', async () => {
    await at(1, 'message-1');
    const first = await at(2, 'account-1');
    const second = await at(3, 'account-2');
    await at(4, 'message-1');
    expect(await secondOf(LOG_START)).toBe(2);
    expect(await secondOf(first)).toBe(3);
    expect(await secondOf(second)).toBeNull();
  });

  it('is found without scanning a part of the log again', async () => {
    const handled = await at(1, 'account-1');
    const scanned = await at(2, 'message-1');
    expect(await secondOf(handled)).toBeNull();
    const more = await at(3, 'message-1');
    expect(await secondOf(handled)).toBeNull();
    await at(4, 'account-2');
    for (let report = 0; report < 3; report++) expect(await secondOf(handled)).toBe(4);
    expect(readFrom).toEqual([handled, scanned, more]);
  });

  it('is not read at the end of the log', async () => {
    expect(await secondOf(await at(1, 'account-1'))).toBeNull();
    expect(readFrom).toEqual([]);
  });

  it('is found again after the follower went back, and in a restored log', async () => {
    const first = await at(1, 'account-1');
    const second = await at(2, 'account-2');
    await at(3, 'message-1');
    expect(await secondOf(second)).toBeNull();
    expect(await secondOf(first)).toBe(2);
    expect(await secondOf(LOG_START)).toBe(1);
    expect(await secondOf(LOG_START, 'accounts', first)).toBe(1);
  });

  it('is unknown without a position or a filter, or while the log cannot be read', async () => {
    const handled = await at(1, 'account-1');
    await at(2, 'account-2');
    expect(await secondOf(undefined)).toBeUndefined();
    expect(await secondOf(handled, 'removed')).toBeUndefined();
    jest.spyOn(store, 'readAll').mockImplementation(() => {
      throw new StoreUnavailable('The log is away.');
    });
    expect(await secondOf(handled)).toBeUndefined();
  });
});
