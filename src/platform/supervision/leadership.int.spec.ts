import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { systemTiming } from '../system-timing.js';
import { Leadership, partsPlayed } from './leadership.js';

let database: TestDatabase;
let one: Leadership;
let other: Leadership;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  [one, other] = [new Leadership(database.sql, systemTiming), new Leadership(database.sql, systemTiming)];
});
afterEach(async () => {
  await one.close();
  await other.close();
});

const killHolders = () => database.sql`
  select pg_terminate_backend(pid) from pg_locks join pg_database on pg_database.oid = pg_locks.database
  where locktype = 'advisory' and datname = current_database() and pid <> pg_backend_pid()`;

describe('leadership of a part', () => {
  it('is gained by the first caller, for each part separately', async () => {
    expect(await one.tryGain('a')).toBeDefined();
    expect(await other.tryGain('a')).toBeUndefined();
    expect(await other.tryGain('b')).toBeDefined();
    expect(await one.tryGain('a')).toBeDefined();
  });

  it('is gained by a standby when it is released', async () => {
    await one.tryGain('a');
    const standby = other.gain('a', new AbortController().signal);
    await one.close();
    expect((await standby)?.aborted).toBe(false);
  });

  it('is lost with its connection, which aborts its signal, and can be gained again', async () => {
    const lost = await one.tryGain('a');
    await killHolders();
    await eventually(() => lost!.aborted);
    const again = await one.gain('a', new AbortController().signal);
    expect(again!.aborted).toBe(false);
    expect(await other.tryGain('a')).toBeUndefined();
  });

  it('is visible to all processes', async () => {
    const played = async () => [...(await partsPlayed(database.sql, ['a', 'b', 'c']))].sort();
    expect(await played()).toEqual([]);
    await one.tryGain('a');
    await other.tryGain('c');
    expect(await played()).toEqual(['a', 'c']);
    await one.close();
    expect(await played()).toEqual(['c']);
  });

  it('is not waited for after an abort', async () => {
    await one.tryGain('a');
    const calledOff = new AbortController();
    const waiting = other.gain('a', calledOff.signal);
    calledOff.abort();
    expect(await waiting).toBeUndefined();
  });
});
