import type { PendingQuery, Row, TransactionSql } from 'postgres';
import type { Columns, Statement } from '../../../projections/projection.js';
import type { Patch } from './row-batch.js';

/*
 * Statements with one JSON parameter for many rows, which the server converts by the table's column types. Values that Postgres
 * rejects in JSON, although a column may accept or convert them, are sent row by row.
 */

export function* insertRows(tx: TransactionSql, table: string, rows: readonly Columns[]): Iterable<Statement> {
  for (const [columns, group] of byColumns(rows, (row) => row)) {
    const text = JSON.stringify(group);
    if (isRefused(text)) {
      for (const row of group) yield tx`insert into ${tx(table)} ${tx({ ...row })}`;
      continue;
    }
    yield tx`insert into ${tx(table)} (${tx(columns)}) select ${tx(columns)}
      from json_populate_recordset(null::${tx(table)}, ${text}::text::json)`;
  }
}

export function* changeRows(tx: TransactionSql, table: string, patches: readonly Patch[]): Iterable<Statement> {
  for (const [columns, group] of byColumns(patches, ({ values }) => values)) {
    const text = JSON.stringify(group.map(({ key, values }) => ({ ...values, ...key })));
    if (isRefused(text)) {
      for (const { key, values } of group) yield tx`update ${tx(table)} set ${tx({ ...values })} where ${hasKey(tx, key)}`;
      continue;
    }
    const assignments = columns.map((column) => tx`${tx(column)} = changed.${tx(column)}`);
    yield tx`update ${tx(table)} as old set ${separated(assignments, tx`, `)}
      from ${populated(tx, table, text, group.length)} as changed where ${sameKey(tx, group[0]!.key)}`;
  }
}

export function* removeRows(tx: TransactionSql, table: string, keys: readonly Columns[]): Iterable<Statement> {
  if (keys.length === 0) return;
  const text = JSON.stringify(keys);
  if (isRefused(text)) {
    for (const key of keys) yield tx`delete from ${tx(table)} where ${hasKey(tx, key)}`;
    return;
  }
  yield tx`delete from ${tx(table)} as old
    using ${populated(tx, table, text, keys.length)} as changed where ${sameKey(tx, keys[0]!)}`;
}

/** Up to this number of rows, the planner looks rows up by index. */
const FEW_ROWS_MAX = 10;

/** The rows as a FROM item. */
export function rowsOf(tx: TransactionSql, columns: Readonly<Record<string, string>>, rows: readonly Columns[]): Fragment {
  const named = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  const text = JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value));
  return tx`(
    select * from json_to_recordset(${text}::text::json) as each (${tx.unsafe(named.join(', '))}) ${fewOrMany(tx, rows.length)}
  ) as told`;
}

const populated = (tx: TransactionSql, table: string, text: string, count: number): Fragment => tx`(
  select * from json_populate_recordset(null::${tx(table)}, ${text}::text::json) ${fewOrMany(tx, count)}
)`;

/** The planner assumes a hundred rows in JSON and would scan a small table. A limit corrects its estimate. */
const fewOrMany = (tx: TransactionSql, count: number): Fragment =>
  count <= FEW_ROWS_MAX ? tx`limit ${tx.unsafe(String(FEW_ROWS_MAX))}` : tx``;

type Fragment = PendingQuery<Row[]>;

const sameKey = (tx: TransactionSql, key: Columns) =>
  separated(
    Object.keys(key).map((column) => tx`old.${tx(column)} = changed.${tx(column)}`),
    tx` and `,
  );

const hasKey = (tx: TransactionSql, key: Columns) =>
  separated(
    Object.entries(key).map(([column, value]) => tx`${tx(column)} = ${value as string}`),
    tx` and `,
  );

const separated = (parts: readonly Fragment[], separator: Fragment): Fragment[] =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));

/** Groups rows with the same columns, in the order of the first row of each group. */
function byColumns<T>(items: readonly T[], valuesOf: (item: T) => Columns): Iterable<[readonly string[], T[]]> {
  const groups = new Map<string, [readonly string[], T[]]>();
  for (const item of items) {
    const columns = Object.keys(valuesOf(item));
    const name = columns.join();
    const group = groups.get(name);
    if (group) group[1].push(item);
    else groups.set(name, [columns, [item]]);
  }
  return groups.values();
}

/** An escaped NUL or lone surrogate in JSON text, with a backslash that is not itself escaped. */
const REFUSED = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

const isRefused = (text: string): boolean => text.includes('\\u') && REFUSED.test(text);
