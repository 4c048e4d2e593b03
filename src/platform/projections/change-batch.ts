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

/** How many changes of rows are gathered before they are sent. */
const GATHERED_ROWS_MAX = 10_000;

/** Where the tables are that projections name without their schema. By default the transaction has entered it. */
export type TablePlace = Readonly<{
  /** The name by which a table is found. */
  named: (table: string) => string;
  /** Called before a written statement is sent, in which names stay bare. */
  enter: () => void;
}>;

const ENTERED: TablePlace = { named: (table) => table, enter: () => undefined };

/**
 * Sends changes so that the tables end up as if each had been sent by itself, in order; yet without waiting for answers,
 * and changes of rows many at a time.
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

  /** Sends what is left and waits for all answers. @throws the first refusal */
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

  /** A row that changes or goes would not be found as the statements of sets from before found it. */
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
    // The first refusal is thrown by `sent`; until then none of them goes unhandled.
    answer.catch(() => undefined);
    this.answers.push(answer);
  }
}

/** Sends one event's changes and waits for each: for when a refusal must be known to be this event's. */
export async function sendOneByOne(tx: TransactionSql, changes: readonly Change[]): Promise<void> {
  for (const change of changes) {
    const batch = new ChangeBatch(tx);
    batch.add(change);
    await batch.sent();
  }
}
