import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Sql } from 'postgres';
import { type TestDatabase, testDatabase } from '../test/support/postgres-for-tests.js';
import { openDatabase } from '../src/platform/postgres/database.js';
import { asTimestamp } from './timestamps.js';

const DATE_MS_MAX = 8_640_000_000_000_000;

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  await database.sql.unsafe(`alter database ${new URL(database.url).pathname.slice(1)} set timezone to 'Europe/Prague'`);
  sql = openDatabase({ url: database.url, name: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

/** A time as it is read back from Postgres, and the text that Postgres has for it. */
async function kept(moment: Date | string) {
  const [row] = await sql<{ at: Date; text: string }[]>`
    select at, at::text as text from (select ${moment as Date}::timestamptz as at) given`;
  return row!;
}

describe('a timestamp', () => {
  it.each([
    ['2026-03-20T12:00:30.123Z', '2026-03-20 12:00:30.123+00'],
    ['1890-01-01T00:00:00.000Z', '1890-01-01 00:00:00+00'],
    ['+012026-01-01T00:00:00.000Z', '12026-01-01 00:00:00+00'],
    ['0099-12-31T23:59:59.999Z', '0099-12-31 23:59:59.999+00'],
    ['0001-01-01T00:00:00.000Z', '0001-01-01 00:00:00+00'],
    ['0000-02-29T12:00:00.001Z', '0001-02-29 12:00:00.001+00 BC'],
    ['-000043-03-15T00:00:00.000Z', '0044-03-15 00:00:00+00 BC'],
    ['-004712-01-01T00:00:00.000Z', '4713-01-01 00:00:00+00 BC'],
    [new Date(DATE_MS_MAX).toISOString(), 'infinity'],
    [new Date(-DATE_MS_MAX).toISOString(), '-infinity'],
  ])('%s is unchanged after Postgres has stored it as %s', async (moment, text) => {
    expect(await kept(new Date(moment))).toEqual({ at: new Date(moment), text });
    expect(await kept(moment)).toEqual({ at: new Date(moment), text });
  });

  it('is unchanged for any year that Postgres supports', async () => {
    const min = new Date('-004712-01-01T00:00:00.000Z');
    const moments = fc.date({ min, max: new Date(DATE_MS_MAX), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(moments, async (moment) => expect((await kept(moment)).at).toEqual(moment)),
      { numRuns: 200 },
    );
  });

  it('becomes -infinity before the range of Postgres, and the latest Date after the range of Date', async () => {
    expect((await kept(new Date('-004713-12-31T00:00:00.000Z'))).text).toBe('-infinity');
    const [row] = await sql<{ at: Date }[]>`select '290000-01-01'::timestamptz as at`;
    expect(row!.at).toEqual(new Date(DATE_MS_MAX));
  });

  it('can be an element of an array, or null', async () => {
    const moments = ['2026-01-01T00:00:00.000Z', null, '+012026-01-01T00:00:00.000Z', '-000043-03-15T00:00:00.000Z', 'infinity'];
    const [row] = await sql<{ moments: (Date | null)[] }[]>`
      select array_agg(at order by place) filter (where at is not null) as moments
      from unnest(${moments}::timestamptz[]) with ordinality as given (at, place)`;
    const dates = moments.filter((moment) => moment !== null).map((moment) => new Date(moment));
    expect(row!.moments).toEqual([...dates.slice(0, 3), new Date(DATE_MS_MAX)]);
  });

  it('is refused if it is not a time, also a word that Postgres accepts, and other queries still work', async () => {
    for (const none of [new Date(NaN), 'soon', 'yesterday', 'now']) await expect(kept(none)).rejects.toThrow(RangeError);
    expect((await kept('2026-01-01T00:00:00.000Z')).at).toEqual(new Date('2026-01-01T00:00:00.000Z'));
  });

  it('is written the same in JSON as in a parameter', async () => {
    for (const moment of ['+012026-01-01T00:00:00.000Z', '-000043-03-15T00:00:00.000Z', '2026-01-01T00:00:00.000Z']) {
      const text = JSON.stringify([{ at: asTimestamp(moment) }]);
      const [row] = await sql<{ at: Date }[]>`select at from json_to_recordset(${text}::text::json) as given (at timestamptz)`;
      expect(row!.at).toEqual(new Date(moment));
    }
  });
});
