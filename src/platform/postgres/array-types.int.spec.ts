import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import type { Sql } from 'postgres';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { SCHEMAS_FILE } from '../../../test/support/schemas.js';
import { ARRAY_TYPES } from './array-types.js';
import { openDatabase } from './database.js';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = openDatabase({ url: database.url, name: 'test' });
});
afterAll(async () => {
  await sql.end();
  await database.close();
});

async function readBack(type: string, values: readonly unknown[]): Promise<unknown> {
  const [row] = await sql<{ back: unknown }[]>`select ${values as string[]}::${sql.unsafe(type)}[] as back`;
  return row!.back;
}

it('the object ids are those of the server', async () => {
  const names = Object.keys(ARRAY_TYPES);
  const rows = await sql<{ name: string; oid: number }[]>`
    select name, name::regtype::oid as oid from unnest(${names}::text[]) as wanted (name)`;
  expect(Object.fromEntries(rows.map(({ name, oid }) => [name, Number(oid)]))).toEqual(
    Object.fromEntries(names.map((name) => [name, ARRAY_TYPES[name]!.to])),
  );
});

it('every array column of the service has one of these types', async () => {
  const columns = (await readFile(SCHEMAS_FILE, 'utf8')).match(/\w+\[\]/g)!;
  const rows = await sql<{ type: string; oid: number }[]>`
    select distinct type, type::regtype::oid as oid from unnest(${columns}::text[]) as used (type)`;
  const known = new Set(Object.values(ARRAY_TYPES).map(({ to }) => to));
  expect(rows.filter(({ oid }) => !known.has(Number(oid)))).toEqual([]);
  expect(rows.length).toBeGreaterThan(2);
});

const text = fc.oneof(
  fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', '')),
  fc.constantFrom('', 'NULL', 'null', '"', '\\', '\\"', '{}', 'a,b', ' ', '\n', "'"),
);

it('texts are read back as they were written', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text), { maxLength: 8 }), async (values) => {
      expect(await readBack('text', values)).toEqual(values);
    }),
  );
});

it.each([
  ['bool', [true, false, null]],
  ['name', ['a', 'b c']],
  ['int2', [1, -2]],
  ['int4', [1, -2, null]],
  ['int8', ['9007199254740993', '-1']],
  ['float4', [0.5, -1]],
  ['float8', [0.1, -1e300]],
  ['timestamptz', [new Date('2026-03-20T12:00:30.123Z'), new Date('0044-03-15T00:00:00Z')]],
  ['uuid', ['00000000-0000-4000-8000-000000000000']],
  ['tsquery', ["'a' & 'b'"]],
])('arrays of %s are read back as they were written', async (type, values) => {
  // The driver takes arrays of booleans and of dates for single values, so elements are passed as texts.
  const given = values.map((value) => (value instanceof Date ? value.toISOString() : value === null ? null : String(value)));
  expect(await readBack(type, given)).toEqual(values);
});

it('an undefined element is refused', async () => {
  await expect(readBack('text', ['a', undefined])).rejects.toThrow('undefined');
});
