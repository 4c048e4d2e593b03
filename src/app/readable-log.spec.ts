import { beforeEach, describe, expect, it } from '@jest/globals';
import { append, opened } from '../../test/support/accounts.js';
import { eventually } from '../../test/support/eventually.js';
import { InMemoryEventStore } from '../../test/support/in-memory-event-store.js';
import {
  type EventStore,
  lastEvent,
  type LogPage,
  type LogReading,
  StoreUnavailable,
} from '../kernel/event-sourcing/event-store.js';
import { UnreadableLog } from '../kernel/event-sourcing/log-format.js';
import { LOG_FORMAT_STREAM } from '../kernel/event-sourcing/log-format.events.js';
import { readableLog } from './readable-log.js';

const use = { version: '0.2.0', place: 'the event store at a:2113', advice: 'set EVENT_STORE to another server' };

class Away extends InMemoryEventStore {
  isAway = true;

  override async *readAll(reading: LogReading): AsyncIterable<LogPage> {
    if (this.isAway) throw new StoreUnavailable('The event store is away.');
    yield* super.readAll(reading);
  }
}

let store: Away;
let lost: Error[];

beforeEach(() => {
  [store, lost] = [new Away(), []];
});

const open = (): Promise<EventStore> =>
  readableLog(store, use, {
    onLost: (error) => lost.push(error),
    onOutage: () => undefined,
    signal: new AbortController().signal,
  });

describe('a log that does not answer at start', () => {
  it('rejects reads and appends until its format has been checked', async () => {
    const log = await open();
    await expect(log.head()).rejects.toThrow(StoreUnavailable);
    await expect(append(log, 'account-1', opened('1'))).rejects.toThrow(StoreUnavailable);
    store.isAway = false;
    await eventually(async () => (await log.lastRevision(LOG_FORMAT_STREAM).catch(() => 'none')) === 0);
    await append(log, 'account-1', opened('1'));
    expect((await lastEvent(log, 'account-1'))?.type).toBe('AccountOpened');
    expect(lost).toEqual([]);
  });

  it('reports a fatal error as soon as it answers, where another version wrote it', async () => {
    await append(store, 'account-1', opened('1'));
    const log = await open();
    store.isAway = false;
    await eventually(() => lost.length === 1);
    expect(lost[0]).toBeInstanceOf(UnreadableLog);
    await expect(log.head()).rejects.toThrow(StoreUnavailable);
  });
});

it('a log that answers at start is returned without a wrapper', async () => {
  store.isAway = false;
  expect(await open()).toBe(store);
});
