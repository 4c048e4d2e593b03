import type { PendingQuery, Row, TransactionSql } from 'postgres';
import type { Codec } from '../src/kernel/event-sourcing/codec.js';
import type { LogFilter, StoredEvent } from '../src/kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../src/kernel/event-sourcing/events.js';

export type Statement = PendingQuery<readonly Row[]>;

/** Some columns of a row. Values are JSON values or a `Date`. An object is for a column of type JSON. */
export type Columns = Readonly<Record<string, unknown>>;

/** Inserts rows. Columns that are left out get their default. A row whose key exists already is an error. */
export class NewRows {
  constructor(
    readonly table: string,
    readonly rows: readonly Columns[],
  ) {}
}

/** Updates the row with this key, if it exists. */
export class ChangedRow {
  constructor(
    readonly table: string,
    readonly key: Columns,
    readonly values: Columns,
  ) {}
}

/** Deletes the row with this key, if it exists. */
export class RemovedRow {
  constructor(
    readonly table: string,
    readonly key: Columns,
  ) {}
}

/**
 * Changes of rows by their whole key. The runner batches those of many events and sends one statement for each kind of change and
 * table. The result is the same and several times faster than one statement per event. A handwritten statement between them keeps
 * its place and ends the batch, so a projection with few handwritten statements is faster.
 */
export const insertInto = (table: string, ...rows: readonly Columns[]): NewRows => new NewRows(table, rows);
export const changeIn = (table: string, key: Columns, values: Columns): ChangedRow => new ChangedRow(table, key, values);
export const removeFrom = (table: string, key: Columns): RemovedRow => new RemovedRow(table, key);

/**
 * The parts of which a set statement is built. Tables must be named with `table`, because their schema is not on the search path.
 */
export type SetMeans = Readonly<{ sql: TransactionSql; rows: PendingQuery<Row[]>; table: (name: string) => PendingQuery<Row[]> }>;

/**
 * A statement for the rows of many events, for changes that need more than a key: it may read and change any rows. It is sent
 * after the changes by key of its batch. Rows that are inserted later in the batch must not affect it, unless it `removes` rows.
 */
export type SetStatement = Readonly<{
  /** The columns of its rows, with their types. */
  columns: Readonly<Record<string, string>>;
  /** The tables that it changes or reads. */
  tables: readonly string[];
  /** Statements of lower steps are sent first. */
  step: 1 | 2 | 3;
  /** It deletes rows. All later changes of its tables, including inserts, are sent after it. */
  removes?: true;
  /**
   * The column that identifies the subject of a row. One statement never has two rows with the same subject, and rows with the
   * same subject keep their order across statements. If left out, the statement takes any rows together and in any order with
   * those of other sets.
   */
  key?: string;
  statement: (means: SetMeans) => Statement;
}>;

/** A row for a set statement. */
export class RowOfSet {
  constructor(
    readonly set: SetStatement,
    readonly row: Columns,
  ) {}
}

/** The set statement that deletes all rows of a table with one of the given values in a column. */
export const allWith = (column: string, table: string): SetStatement => ({
  columns: { [column]: 'text' },
  tables: [table],
  step: 1,
  removes: true,
  statement: ({ sql, rows, table: placed }) => sql`
    delete from ${placed(table)} as old using ${rows} where old.${sql(column)} = told.${sql(column)}`,
});

/** A statement that derives columns from other rows. It is sent last, with each requested key once. */
export type Derivation = Readonly<{ key: string; statement: (means: SetMeans) => Statement }>;

/** Requests that the columns of the row with this key are derived again. */
export class DerivedRow {
  constructor(
    readonly derivation: Derivation,
    readonly key: string,
  ) {}
}

export const inSet = (set: SetStatement, row: Columns): RowOfSet => new RowOfSet(set, row);
export const derive = (derivation: Derivation, key: string): DerivedRow => new DerivedRow(derivation, key);

export type RowChange = NewRows | ChangedRow | RemovedRow;

export type Change = Statement | RowChange | RowOfSet | DerivedRow;

/**
 * The changes that apply an event to the tables. The runner sends them in order, in the transaction of the checkpoint, without
 * waiting for the result of each, so a handler cannot read the result of a statement.
 */
type Handler<E extends Event> = {
  changes(event: Recorded<E>, sql: TransactionSql): Change | readonly Change[];
}['changes'];

type Handlers<E extends Event> = { readonly [Type in E['type']]?: Handler<Extract<E, { type: Type }>> };

/**
 * A read model: one Postgres schema that is filled only from the log. Its name identifies its checkpoint and, with `_` for `-`,
 * its schema, and must never change. Table names have no schema, because the runner chooses it: a rebuild runs the same
 * statements beside the live rows.
 */
export type Projection<E extends Event = Event> = Readonly<{
  name: string;
  /**
   * Must be incremented when a handler changes the result of past events. The service then reports that the rows must be rebuilt.
   */
  version?: number;
  /** The event types that it decodes. It ignores all others. */
  codec: Codec<E>;
  /** The URL of the `.sql` file with its tables. */
  ddl: URL;
  on: Handlers<E>;
  /** Called for every event, as it is stored, instead of `on`. For read models of the log itself. */
  every?: (event: StoredEvent, sql: TransactionSql) => Change | readonly Change[];
  /** Every change finds rows by their key, so a rebuild can fill the tables first and create the other indexes at the end. */
  indexesLast?: boolean;
  /** The entity whose events are parked after an event that cannot be applied. By default this is the stream. */
  entity?: (event: StoredEvent) => string;
}> &
  LogFilter;

export const defineProjection = <E extends Event>(projection: Projection<E>): Projection<E> => projection;

export const schemaOf = (projection: Pick<Projection, 'name'>): string => projection.name.replaceAll('-', '_');

export const filterOf = ({ categories, exceptCategories }: LogFilter): LogFilter => ({
  ...(categories && { categories }),
  ...(exceptCategories && { exceptCategories }),
});
