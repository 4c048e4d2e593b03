import { describe, expect, it } from '@jest/globals';
import { append } from '../../../test/support/accounts.js';
import { bellReactions, rang } from '../../../test/support/bell-reactions.js';
import { eventually } from '../../../test/support/eventually.js';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { LOG_ENDS_EARLIER, LOG_START, LogDiffers, type LogReading } from '../../kernel/event-sourcing/event-store.js';
import { takeBackReactions } from './reaction-tables.js';

const bells = bellReactions();

describe('a reaction', () => {
  it('whose checkpoint is past the end of a restored log repeats the last minutes of it and acts on later events', async () => {
    const page = Array.from({ length: 256 }, () => rang(1));
    const before = bells.start();
    await append(bells.store, 'bell-a', ...page, rang(2), rang(2));
    await eventually(() => bells.heard.length === 258);
    await before.stop();
    let now = new Date('2026-01-01T00:00:00Z');
    bells.store = new InMemoryEventStore({ now: () => now });
    await append(bells.store, 'bell-a', ...page);
    now = new Date('2026-01-01T00:11:00Z');
    const head = await append(bells.store, 'bell-a', rang(2));
    const reactions = bells.start();
    await eventually(() => reactions.failureOf('answer-door') === LOG_ENDS_EARLIER);
    expect(await takeBackReactions(bells.sql, bells.endingAt(head))).toEqual(['answer-door']);
    expect(await takeBackReactions(bells.sql, bells.endingAt(head))).toEqual([]);
    await append(bells.store, 'bell-a', rang(3));
    await eventually(() => bells.heard.length === 260);
    // What the reaction had appended about the newest event may be lost. The first ones, which fill a page, are older.
    expect(bells.heard.slice(258)).toEqual(['bell-a 2', 'bell-a 3']);
  });

  it('whose checkpoint is between two events of a restored log repeats the last minutes of it', async () => {
    const before = bells.start();
    const reached = await append(bells.store, 'bell-a', rang(1));
    await eventually(() => bells.isCheckpointAt(reached));
    await before.stop();
    const head = await append(bells.store, 'bell-a', rang(2));
    const restored = {
      ...bells.endingAt(head),
      readAll: (reading: LogReading) => {
        if (reading.after === reached) throw new LogDiffers();
        return bells.store.readAll(reading);
      },
    };
    expect(await takeBackReactions(bells.sql, restored)).toEqual(['answer-door']);
    expect(await bells.isCheckpointAt(LOG_START)).toBe(true);
    expect(await takeBackReactions(bells.sql, restored)).toEqual([]);
  });

  it('that acts on a new event while the end of the log is read is not reset', async () => {
    const first = await append(bells.store, 'bell-a', rang(1));
    bells.start();
    await eventually(() => bells.isCheckpointAt(first));
    const readLate = async () => {
      const second = await append(bells.store, 'bell-a', rang(2));
      await eventually(() => bells.isCheckpointAt(second));
      return first;
    };
    expect(await takeBackReactions(bells.sql, { ...bells.endingAt(first), end: readLate })).toEqual([]);
    await append(bells.store, 'bell-a', rang(3));
    await eventually(() => bells.heard.length === 3);
    expect(bells.heard).toEqual(['bell-a 1', 'bell-a 2', 'bell-a 3']);
  });

  it('drops parked events that a restored log does not have', async () => {
    const unlucky = async () => {
      throw new Error('unlucky');
    };
    const before = bells.start(unlucky);
    await append(bells.store, 'bell-a', rang(1));
    await append(bells.store, 'bell-b', rang(2));
    await eventually(async () => (await bells.parkedEvents()).length === 2);
    await before.stop();
    bells.store = new InMemoryEventStore();
    const head = await append(bells.store, 'bell-a', rang(1));
    await takeBackReactions(bells.sql, bells.endingAt(head));
    await append(bells.store, 'bell-b', rang(3));
    bells.start();
    await eventually(() => bells.heard.length > 0);
    expect(bells.heard).toEqual(['bell-b 3']);
    expect(await bells.parkedEvents()).toMatchObject([{ stream: 'bell-a' }]);
  });
});
