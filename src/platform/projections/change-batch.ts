import type { TransactionSql } from 'postgres';
import {
  type Change,
  ChangedRow,
  type Columns,
  type Derivation,
  DerivedRow,
  NewRows,
  RemovedRow,
  RowOfSet,
  type SetMeans,
  type Statement,
} from '../../../projections/projection.js';
import { RowBatch } from './row-batch.js';
import { changeRows, insertRows, removeRows, rowsOf } from './row-statements.js';
import { SetBatch } from './set-batch.js';

/** Number of row changes that are collected before they are sent. */
const GATHERED_ROWS_MAX = 10_000;

/** How table names without a schema are resolved. By default the transaction has set the search path. */
export type TablePlace = Readonly<{
  /** The qualified name of a table. */
  named: (table: string) => string;
  /** Called before a handwritten statement is sent, whose table names have no schema. */
  enter: () => void;
}>;

const ENTERED: TablePlace = { named: (table) => table, enter: () => undefined };

/**
 * Sends changes with the same result as sending each by itself, in order, but without waiting for answers and with many row
 * changes in one statement.
 */
export class ChangeBatch {
  private readonly answers: Promise<unknown>[] = [];
  private gathered = new Map<string, RowBatch>();
  private sets = new SetBatch();
  private readonly derived = new Map<Derivation, Set<string>>();
  private size = 0;

  constructor(
    private readonly tx: TransactionSql,
    private readonly place = ENTERED,
  ) {}

  add(change: Change): void {
    if (change instanceof NewRows) {
      if (this.sets.removesFrom(change.table)) this.flush();
      for (const row of change.rows) this.gather(change.table, (rows) => rows.add(row));
    } else if (change instanceof ChangedRow) {
      this.afterSetsOf(change.table);
      this.gather(change.table, (rows) => rows.change(change.key, change.values));
    } else if (change instanceof RemovedRow) {
      this.afterSetsOf(change.table);
      this.gather(change.table, (rows) => rows.remove(change.key));
    } else if (change instanceof RowOfSet) {
      this.gatherInSet(change);
    } else if (change instanceof DerivedRow) {
      const keys = this.derived.get(change.derivation);
      if (keys) keys.add(change.key);
      else this.derived.set(change.derivation, new Set([change.key]));
    } else {
      this.flush();
      this.place.enter();
      this.send(change);
    }
  }

  /** Sends the remaining changes and waits for all answers. @throws the first error */
  async sent(): Promise<void> {
    this.flush();
    for (const [{ key, statement }, keys] of this.derived) {
      const rows = [...keys].map((each) => ({ [key]: each }));
      this.send(statement(this.meansOf({ [key]: 'text' }, rows)));
    }
    this.derived.clear();
    await Promise.all(this.answers);
  }

  private gather(table: string, join: (rows: RowBatch) => boolean): void {
    if (this.size >= GATHERED_ROWS_MAX || !join(this.rowBatchOf(table))) {
      this.flush();
      join(this.rowBatchOf(table));
    }
    this.size++;
  }

  /** Sends earlier set statements first if they use the table, because they must see its rows before this change. */
  private afterSetsOf(table: string): void {
    if (this.sets.concerns(table)) this.flush();
  }

  private gatherInSet({ set, row }: RowOfSet): void {
    if (this.size >= GATHERED_ROWS_MAX || this.sets.precedes(set) || !this.sets.add(set, row)) {
      this.flush();
      this.sets.add(set, row);
    }
    this.size++;
  }

  private meansOf(columns: Readonly<Record<string, string>>, rows: readonly Columns[]): SetMeans {
    return { sql: this.tx, rows: rowsOf(this.tx, columns, rows), table: (name) => this.tx`${this.tx(this.place.named(name))}` };
  }

  private rowBatchOf(table: string): RowBatch {
    let rows = this.gathered.get(table);
    if (!rows) this.gathered.set(table, (rows = new RowBatch(this.place.named(table))));
    return rows;
  }

  private flush(): void {
    if (this.size === 0) return;
    const tables = [...this.gathered.values()];
    const sets = this.sets.inOrder;
    this.gathered = new Map();
    this.sets = new SetBatch();
    this.size = 0;
    for (const { table, removals } of tables) for (const each of removeRows(this.tx, table, removals)) this.send(each);
    for (const { table, additions } of tables) for (const each of insertRows(this.tx, table, additions)) this.send(each);
    for (const { table, patches } of tables) for (const each of changeRows(this.tx, table, patches)) this.send(each);
    for (const [{ columns, statement }, rows] of sets) this.send(statement(this.meansOf(columns, rows)));
  }

  private send(statement: Statement): void {
    const answer = statement.execute();
    // `sent` throws the first error. This handler prevents unhandled rejections until then.
    answer.catch(() => undefined);
    this.answers.push(answer);
  }
}

/** Sends the changes of one event and waits for each, so that an error is known to be of this event. */
export async function sendOneByOne(tx: TransactionSql, changes: readonly Change[]): Promise<void> {
  for (const change of changes) {
    const batch = new ChangeBatch(tx);
    batch.add(change);
    await batch.sent();
  }
}
