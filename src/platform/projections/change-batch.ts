import type { TransactionSql } from 'postgres';
import { type Change, ChangedRow, NewRows, RemovedRow, type Statement } from '../../../projections/projection.js';
import { RowBatch } from './row-batch.js';
import { changeRows, insertRows, removeRows } from './row-statements.js';

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
  private size = 0;

  constructor(
    private readonly tx: TransactionSql,
    private readonly place = ENTERED,
  ) {}

  add(change: Change): void {
    if (change instanceof NewRows) {
      for (const row of change.rows) this.gather(change.table, (rows) => rows.add(row));
    } else if (change instanceof ChangedRow) {
      this.gather(change.table, (rows) => rows.change(change.key, change.values));
    } else if (change instanceof RemovedRow) {
      this.gather(change.table, (rows) => rows.remove(change.key));
    } else {
      this.flush();
      this.place.enter();
      this.send(change);
    }
  }

  /** Sends what is left and waits for all answers. @throws the first refusal */
  async sent(): Promise<void> {
    this.flush();
    await Promise.all(this.answers);
  }

  private gather(table: string, join: (rows: RowBatch) => boolean): void {
    if (this.size >= GATHERED_ROWS_MAX || !join(this.rowsOf(table))) {
      this.flush();
      join(this.rowsOf(table));
    }
    this.size++;
  }

  private rowsOf(table: string): RowBatch {
    let rows = this.gathered.get(table);
    if (!rows) this.gathered.set(table, (rows = new RowBatch(this.place.named(table))));
    return rows;
  }

  private flush(): void {
    if (this.gathered.size === 0) return;
    const tables = [...this.gathered.values()];
    this.gathered = new Map();
    this.size = 0;
    for (const { table, removals } of tables) for (const each of removeRows(this.tx, table, removals)) this.send(each);
    for (const { table, additions } of tables) for (const each of insertRows(this.tx, table, additions)) this.send(each);
    for (const { table, patches } of tables) for (const each of changeRows(this.tx, table, patches)) this.send(each);
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
