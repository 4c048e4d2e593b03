import type { PendingQuery, Row, TransactionSql } from 'postgres';
import type { Codec } from '../src/kernel/event-sourcing/codec.js';
import type { LogFilter, StoredEvent } from '../src/kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../src/kernel/event-sourcing/events.js';

export type Statement = PendingQuery<readonly Row[]>;

/** Some columns of a row. Values are what JSON can say, and `Date`; an object is for a column of JSON. */
export type Columns = Readonly<Record<string, unknown>>;

/** New rows; columns that are left out get their default. That a row is there already is an error. */
export class NewRows {
  constructor(
    readonly table: string,
    readonly rows: readonly Columns[],
  ) {}
}

/** Other values in the one row with this key, if there is one. */
export class ChangedRow {
  constructor(
    readonly table: string,
    readonly key: Columns,
    readonly values: Columns,
  ) {}
}

/** The one row with this key goes, if there is one. */
export class RemovedRow {
  constructor(
    readonly table: string,
    readonly key: Columns,
  ) {}
}

/**
 * Changes of rows by their whole key. The runner gathers those of many events and sends one statement for each kind and
 * table, several times faster than a statement per event, and with the same result. A written statement in between keeps
 * its place, which ends the gathering: a projection is fast that has few of them.
 */
export const insertInto = (table: string, ...rows: readonly Columns[]): NewRows => new NewRows(table, rows);
export const changeIn = (table: string, key: Columns, values: Columns): ChangedRow => new ChangedRow(table, key, values);
export const removeFrom = (table: string, key: Columns): RemovedRow => new RemovedRow(table, key);

/** What the statement of a set is written with. Tables are found by `table` alone: their schema is not on the search path. */
export type SetMeans = Readonly<{ sql: TransactionSql; rows: PendingQuery<Row[]>; table: (name: string) => PendingQuery<Row[]> }>;

/**
 * A statement for the rows of many events, where changes by key are not enough: it may look for other rows. It is sent
 * after the changes by key that came with it; new rows that come later do not matter to it, unless it `removes`.
 */
export type SetStatement = Readonly<{
  /** The columns of its rows, with their types. */
  columns: Readonly<Record<string, string>>;
  /** The tables that it changes or looks at. */
  tables: readonly string[];
  /** Statements of lower steps are sent first. */
  step: 1 | 2;
  /** It takes rows away: what is said of its tables later, rows that are new among it, is sent after it. */
  removes?: true;
  /**
   * The column that names what a row is about. Two rows about the same are in one statement never, and keep their order with those of
   * other statements. Left out: the statement takes any rows together, and what is said by other sets is nothing to it.
   */
  key?: string;
  statement: (means: SetMeans) => Statement;
}>;

/** A row for the statement of a set. */
export class RowOfSet {
  constructor(
    readonly set: SetStatement,
    readonly row: Columns,
  ) {}
}

/** Takes away all rows of a table with a value in a column, those of many values at once. */
export const allWith = (column: string, table: string): SetStatement => ({
  columns: { [column]: 'text' },
  tables: [table],
  step: 1,
  removes: true,
  statement: ({ sql, rows, table: placed }) => sql`
    delete from ${placed(table)} as old using ${rows} where old.${sql(column)} = told.${sql(column)}`,
});

/** What follows from all other rows, for one thing: `statement` is sent last, with each key once, however often it is asked for. */
export type Derivation = Readonly<{ key: string; statement: (means: SetMeans) => Statement }>;

/** The row with this key says again what follows from the others. */
export class DerivedRow {
  constructor(
    readonly derivation: Derivation,
    readonly key: string,
  ) {}
}

export const inSet = (set: SetStatement, row: Columns): RowOfSet => new RowOfSet(set, row);
export const derive = (derivation: Derivation, key: string): DerivedRow => new DerivedRow(derivation, key);

export type RowChange = NewRows | ChangedRow | RemovedRow;

/** What an event changes in the tables. */
export type Change = Statement | RowChange | RowOfSet | DerivedRow;

/**
 * The changes that make the tables say what an event said. They are sent in order, in the transaction of the checkpoint,
 * and without waiting for one another: a handler cannot see what a statement answers.
 */
type Handler<E extends Event> = {
  changes(event: Recorded<E>, sql: TransactionSql): Change | readonly Change[];
}['changes'];

type Handlers<E extends Event> = { readonly [Type in E['type']]?: Handler<Extract<E, { type: Type }>> };

/**
 * A read model: one Postgres schema, filled from the log and from nothing else. Its name is its checkpoint and, with `_`
 * for `-`, its schema; it never changes. Table names stay bare: the runner picks the schema, so that a rebuild runs the same
 * statements beside the live rows.
 */
export type Projection<E extends Event = Event> = Readonly<{
  name: string;
  /** Counted up when a handler changes what it says of events of the past: the live rows are then told to be rebuilt. */
  version?: number;
  /** Every event type it may meet and wants decoded; others pass it by. */
  codec: Codec<E>;
  /** Its tables: a URL of the `.sql` file beside it. */
  ddl: URL;
  on: Handlers<E>;
  /** Called for every event there is, as it is stored, instead of `on`: for read models of the log itself. */
  every?: (event: StoredEvent, sql: TransactionSql) => Change | readonly Change[];
  /** No change looks for rows but by their key, so that a rebuild can fill the tables first and index them at the end. */
  indexesLast?: boolean;
  /** What is set aside with an event that cannot be applied: by default the stream. */
  entity?: (event: StoredEvent) => string;
}> &
  LogFilter;

export const defineProjection = <E extends Event>(projection: Projection<E>): Projection<E> => projection;

export const schemaOf = (projection: Pick<Projection, 'name'>): string => projection.name.replaceAll('-', '_');

export const filterOf = ({ categories, exceptCategories }: LogFilter): LogFilter => ({
  ...(categories && { categories }),
  ...(exceptCategories && { exceptCategories }),
});
