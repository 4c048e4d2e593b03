import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TransactionSql } from 'postgres';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import {
  type Change,
  changeIn,
  derive,
  type Derivation,
  inSet,
  insertInto,
  removeFrom,
  type SetStatement,
} from '../../../projections/projection.js';
import { ChangeBatch, sendOneByOne } from './change-batch.js';
import { enter } from './schema.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  await database.sql.unsafe(`
    create schema things;
    create table things.thing (id text, part integer, name text not null default 'unnamed', tags jsonb, plain json, at timestamptz,
      primary key (id, part));
    create table things.note (id integer primary key, text text not null, size integer);
  `);
});
afterAll(() => database.close());

/** The content of the tables after the changes, which are rolled back. */
async function after(send: (tx: TransactionSql) => Promise<void>): Promise<unknown> {
  let seen: unknown;
  const undo = new Error('undo');
  await database.sql
    .begin(async (tx) => {
      await enter(tx, 'things');
      await send(tx);
      seen = [
        await tx`select id, part, name, tags, plain::text, at from thing order by id, part`,
        await tx`select * from note order by id`,
      ].map((rows) => JSON.stringify(rows));
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return seen;
}

/** Inserts a note with the name of an existing thing. */
const NAMED: SetStatement = {
  columns: { id: 'integer', of: 'text', part: 'integer' },
  tables: ['note', 'thing'],
  step: 1,
  key: 'id',
  statement: ({ sql, rows, table }) => sql`
    insert into ${table('note')} (id, text) select told.id, name from ${rows} join ${table('thing')} on thing.id = told.of and thing.part = told.part`,
};
/** A change whose result depends on earlier rows and on the order. */
const LENGTHENED: SetStatement = {
  columns: { id: 'integer', text: 'text' },
  tables: ['note'],
  step: 2,
  key: 'id',
  statement: ({ sql, rows, table }) => sql`
    update ${table('note')} as note set text = note.text || told.text from ${rows} where note.id = told.id`,
};
/** Removes the existing rows of both tables, but no later ones. */
const FORGOTTEN: SetStatement = {
  columns: { id: 'text', note: 'integer' },
  tables: ['thing', 'note'],
  step: 1,
  removes: true,
  statement: ({ sql, rows, table }) => sql`
    with told as (select * from ${rows}), things as (delete from ${table('thing')} where id in (select id from told))
    delete from ${table('note')} where id in (select note from told)`,
};
const MEASURED: Derivation = {
  key: 'id',
  statement: ({ sql, rows, table }) => sql`
    update ${table('note')} as note set size = length(text) from ${rows} where note.id = told.id::integer`,
};

const allAtOnce = (changes: readonly Change[]) =>
  after(async (tx) => {
    const batch = new ChangeBatch(tx);
    for (const change of changes) batch.add(change);
    await batch.sent();
  });

const oneByOne = (changes: readonly Change[]) => after((tx) => sendOneByOne(tx, changes));

describe('a batch of row changes', () => {
  const text = fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('a"b', '\\u0000', 'tab\t', 'é😀', 'x\ud800y')).filter((t) => !t.includes('\0')); // oxfmt-ignore
  const key = fc.record({ id: fc.constantFrom('x', 'y'), part: fc.integer({ min: 0, max: 1 }) });
  const values = fc.record(
    { name: text, tags: fc.constantFrom(null, ['a', 'b'], { k: [1] }), at: fc.constant(new Date(1e12)) },
    { requiredKeys: [] },
  );
  const filled = values.filter((each) => Object.keys(each).length > 0);
  const change = fc.oneof(
    fc.record({ kind: fc.constant('remove' as const), key }),
    fc.record({ kind: fc.constant('change' as const), key, values: filled }),
    fc.record({ kind: fc.constant('insert' as const), key, values }),
    fc.record({ kind: fc.constant('note' as const), id: fc.nat(2), text }),
    fc.record({ kind: fc.constant('lengthen' as const), id: fc.nat(4), text }),
    fc.record({ kind: fc.constant('name' as const), id: fc.integer({ min: 3, max: 4 }), key }),
    fc.record({ kind: fc.constant('forget' as const), id: fc.constantFrom('x', 'y'), note: fc.nat(4) }),
    fc.record({ kind: fc.constant('measure' as const), id: fc.nat(4) }),
  );

  /** The changes of the steps. A row is inserted only where none exists, as in a real log. */
  function changesOf(steps: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[]): Change[] {
    const there = new Set<string>();
    return steps.flatMap((step): Change[] => {
      if (step.kind === 'measure') return [derive(MEASURED, `${step.id}`)];
      if (step.kind === 'lengthen') {
        // A derived value is derived again with every change of its base. The change needs an existing row.
        if (!there.has(`note ${step.id}`)) return [];
        return [inSet(LENGTHENED, { id: step.id, text: step.text }), derive(MEASURED, `${step.id}`)];
      }
      if (step.kind === 'name') {
        if (there.has(`note ${step.id}`) || !there.has(`${step.key.id} ${step.key.part}`)) return [];
        there.add(`note ${step.id}`);
        return [inSet(NAMED, { id: step.id, of: step.key.id, part: step.key.part }), derive(MEASURED, `${step.id}`)];
      }
      if (step.kind === 'forget') {
        for (const gone of [`${step.id} 0`, `${step.id} 1`, `note ${step.note}`]) there.delete(gone);
        return [inSet(FORGOTTEN, { id: step.id, note: step.note })];
      }
      const id = step.kind === 'note' ? `note ${step.id}` : `${step.key.id} ${step.key.part}`;
      if (step.kind === 'remove') return there.delete(id) ? [removeFrom('thing', step.key)] : [];
      if (step.kind === 'change') return [changeIn('thing', step.key, step.values)];
      const isThere = there.has(id);
      there.add(id);
      if (step.kind === 'insert') return isThere ? [] : [insertInto('thing', { ...step.key, ...step.values })];
      const note = isThere ? changeIn('note', { id: step.id }, { text: step.text }) : insertInto('note', { id: step.id, text: step.text }); // oxfmt-ignore
      return [note, derive(MEASURED, `${step.id}`)];
    });
  }

  it('has the same result as single changes, in any order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (steps) => {
        const changes = changesOf(steps);
        expect(await allAtOnce(changes)).toEqual(await oneByOne(changes));
      }),
      { numRuns: 60 },
    );
  });

  it('keeps the order of a statement between the changes', async () => {
    const seen = await after(async (tx) => {
      const batch = new ChangeBatch(tx);
      batch.add(insertInto('note', { id: 1, text: 'one' }));
      batch.add(tx`update note set text = text || '!'`);
      batch.add(insertInto('note', { id: 2, text: 'two' }));
      await batch.sent();
    });
    expect(seen).toEqual(['[]', '[{"id":1,"text":"one!","size":null},{"id":2,"text":"two","size":null}]']);
  });

  it.each<[string, Change]>([
    ['changed', changeIn('note', { id: 1 }, { text: 'three' })],
    ['removed', removeFrom('note', { id: 1 })],
  ])('refuses two inserts of a row that is %s after them', async (_, change) => {
    const changes = [insertInto('note', { id: 1, text: 'one' }), insertInto('note', { id: 1, text: 'two' }), change];
    await expect(oneByOne(changes)).rejects.toThrow('duplicate key');
    await expect(allAtOnce(changes)).rejects.toThrow('duplicate key');
  });

  it('keeps JSON text unchanged in a json column', async () => {
    const seen = await allAtOnce([insertInto('thing', { id: 'x', part: 1, plain: { b: 1, a: ['é', 1.5e300, { '': null }] } })]);
    expect((seen as string[])[0]).toContain(JSON.stringify('{"b":1,"a":["é",1.5e+300,{"":null}]}'));
  });

  it('may exceed the size of one statement', async () => {
    const rows = Array.from({ length: 25_000 }, (_, id) => ({ id, text: `${id}` }));
    const seen = await after(async (tx) => {
      const batch = new ChangeBatch(tx);
      batch.add(insertInto('note', ...rows));
      await batch.sent();
    });
    expect(JSON.parse((seen as string[])[1]!)).toHaveLength(25_000);
  });

  it('finds few or many rows of a large table by their keys', async () => {
    const ids = Array.from({ length: 15_000 }, (_, id) => id);
    let scans = -1;
    const seen = await after(async (tx) => {
      const send = async (...changes: readonly Change[]) => {
        const batch = new ChangeBatch(tx);
        for (const each of changes) batch.add(each);
        await batch.sent();
      };
      await send(insertInto('note', ...ids.map((id) => ({ id, text: 'a' }))));
      // New statistics make Postgres plan again, as it occasionally does in a service.
      await tx`analyze note`;
      const scanned = async () => {
        const [row] = await tx<{ n: number }[]>`
          select seq_scan::integer as n from pg_stat_xact_user_tables where schemaname = 'things' and relname = 'note'`;
        return row!.n;
      };
      const before = await scanned();
      await send(changeIn('note', { id: 7 }, { text: 'bb' }), derive(MEASURED, '7'), removeFrom('note', { id: 8 }));
      await send(inSet(LENGTHENED, { id: 9, text: 'cc' }));
      scans = (await scanned()) - before;
      const many = ids.slice(100, 120);
      await send(...many.flatMap((id) => [changeIn('note', { id }, { text: 'dddd' }), derive(MEASURED, `${id}`)]));
      await send(...ids.slice(120).map((id) => removeFrom('note', { id })));
    });
    expect(scans).toBe(0);
    const notes = JSON.parse((seen as string[])[1]!) as readonly { id: number; text: string; size: number | null }[];
    expect(notes).toHaveLength(119);
    expect(notes.filter(({ text }) => text !== 'a')).toEqual([
      { id: 7, text: 'bb', size: 2 },
      { id: 9, text: 'acc', size: null },
      ...ids.slice(100, 120).map((id) => ({ id, text: 'dddd', size: 4 })),
    ]);
  });
});
