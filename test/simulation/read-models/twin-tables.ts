import {
  ChangedRow,
  type Columns,
  NewRows,
  type Projection,
  RemovedRow,
  type RowChange,
} from '../../../projections/projection.js';
import { decode } from '../../../src/kernel/event-sourcing/codec.js';
import { categoryOf, type StoredEvent } from '../../../src/kernel/event-sourcing/event-store.js';
import type { Event, Recorded } from '../../../src/kernel/event-sourcing/events.js';

export type TwinRow = Record<string, unknown>;

/**
 * The properties of a table that the projection does not state: its key, the columns that hold times, and the defaults of others.
 */
type TwinTable = Readonly<{ key: string; times: readonly string[]; defaults?: Columns }>;

type Tables<Name extends string> = Readonly<Record<Name, TwinTable>>;

/** In-memory equivalents of the parts of a projection that are SQL. */
export type Written<E extends Event, Name extends string> = {
  readonly [Type in E['type']]?: (event: Recorded<Extract<E, { type: Type }>>, tables: TwinTables<E, Name>) => void;
};

/** The tables of a read model in memory, filled by the real projection. */
export class TwinTables<E extends Event, Name extends string> {
  private readonly rows: Readonly<Record<string, Map<string, TwinRow>>>;

  constructor(
    private readonly projection: Projection<E>,
    private readonly tables: Tables<Name>,
    private readonly written: Written<E, Name> = {},
  ) {
    this.rows = Object.fromEntries(Object.keys(tables).map((table) => [table, new Map<string, TwinRow>()]));
  }

  /** Whether the projection handles events of this stream. */
  wants({ stream }: StoredEvent): boolean {
    return this.projection.categories?.includes(categoryOf(stream)) ?? true;
  }

  apply(stored: StoredEvent): void {
    const event = decode<E>(this.projection.codec, stored);
    if (!event) return;
    const type = event.type as E['type'];
    const written = this.written[type];
    if (written) return written(event as never, this);
    const changes = this.projection.on[type]?.(event as never, noSql as never) ?? [];
    for (const change of [changes].flat() as RowChange[]) this.change(change);
  }

  all(table: Name): readonly TwinRow[] {
    return [...this.rows[table]!.values()];
  }

  change(change: RowChange): void {
    const rows = this.rows[change.table]!;
    const table = this.tables[change.table as Name];
    if (change instanceof NewRows) {
      for (const row of change.rows) rows.set(row[table.key] as string, { ...table.defaults, ...withTimes(row, table) });
      return;
    }
    const key = change.key[table.key] as string;
    const row = rows.get(key);
    if (change instanceof RemovedRow) rows.delete(key);
    if (change instanceof ChangedRow && row) Object.assign(row, withTimes(change.values, table));
  }
}

const withTimes = (values: Columns, { times }: TwinTable): TwinRow =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      times.includes(name) && typeof value === 'string' ? new Date(value) : value,
    ]),
  );

function noSql(): never {
  throw new Error('This change is written in SQL: the twin has to say it of rows.');
}

type Ordered = readonly (Date | string)[];

/** Compares two rows by some of their columns. */
export function compared(one: Ordered, other: Ordered): number {
  for (const [index, value] of one.entries()) {
    const against = other[index]!;
    if (value < against) return -1;
    if (value > against) return 1;
  }
  return 0;
}
