import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { checksumsOf, firstDifference, sameChecksums } from './comparison.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  const { sql } = database;
  for (const schema of ['live', 'rebuilt']) {
    await sql`drop schema if exists ${sql(schema)} cascade`;
    await sql`create schema ${sql(schema)}`;
    await sql`create table ${sql(schema)}.thing (id text primary key, said json not null)`;
  }
});

const has = async (schema: 'live' | 'rebuilt', id: string, said: string) => {
  const { sql } = database;
  await sql`insert into ${sql(schema)}.thing values (${id}, ${said}::text::json)`;
};

const areSame = async () => sameChecksums(await checksumsOf(database.sql, 'live'), await checksumsOf(database.sql, 'rebuilt'));

describe('the comparison of two schemas', () => {
  it('compares JSON with characters that Postgres refuses in text, and names the difference', async () => {
    for (const schema of ['live', 'rebuilt'] as const) await has(schema, 'a', String.raw`{"text": "\u0000 \ud800"}`);
    expect(await firstDifference(database.sql, 'live', 'rebuilt')).toBeUndefined();
    await has('live', 'b', String.raw`{"text": "\u0000"}`);
    expect(await areSame()).toBe(false);
    expect(await firstDifference(database.sql, 'live', 'rebuilt')).toEqual({
      ...{ table: 'thing', key: { id: 'b' } },
      ...{ live: { id: 'b', said: { text: '\0' } }, rebuilt: null },
    });
  });

  it('finds JSON with another order of keys different, by checksums and by rows', async () => {
    await has('live', 'a', '{"one": 1, "two": 2}');
    await has('rebuilt', 'a', '{"two": 2, "one": 1}');
    expect(await areSame()).toBe(false);
    expect(await firstDifference(database.sql, 'live', 'rebuilt')).toMatchObject({ table: 'thing', key: { id: 'a' } });
  });

  it('names a difference among large rows without a copy of them in temporary files', async () => {
    const { sql } = database;
    const said = sql`to_json(repeat(md5(n::text), 60))`;
    for (const schema of ['live', 'rebuilt'])
      await sql`insert into ${sql(schema)}.thing select n, ${said} from generate_series(1, 20000) n`;
    await sql`update live.thing set said = '"other"' where id = '777'`;
    const difference = await sql.begin(async (tx) => {
      await tx`set local temp_file_limit = '20MB'`;
      return firstDifference(tx, 'live', 'rebuilt');
    });
    expect(difference).toMatchObject({
      table: 'thing',
      key: { id: '777' },
      live: { id: '777', said: 'other' },
      rebuilt: { id: '777' },
    });
  });
});
