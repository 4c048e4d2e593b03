import type { TransactionSql } from 'postgres';
import { type Change, type NewRow, NewRows, type Statement } from '../../../projections/projection.js';

/** How many gathered rows go into one statement. */
const ROWS_PER_STATEMENT_MAX = 5_000;

type Gathered = { table: string; columns: readonly string[]; rows: NewRow[] };

/**
 * Sends changes in their order without waiting for answers, so that a page costs a round trip and not one per statement.
 * New rows are gathered per table until a statement comes between.
 */
export class Outbox {
  private readonly answers: Promise<unknown>[] = [];
  private gathered = new Map<string, Gathered>();

  constructor(private readonly tx: TransactionSql) {}

  add(change: Change): void {
    if (change instanceof NewRows) {
      for (const row of change.rows) this.gather(change.table, row);
    } else {
      this.flush();
      this.send(change);
    }
  }

  /** Sends what is left and waits for all answers. @throws the first refusal */
  async sent(): Promise<void> {
    this.flush();
    await Promise.all(this.answers);
  }

  private send(statement: Statement): void {
    const answer = statement.execute();
    // The first refusal is thrown by `sent`; until then none of them goes unhandled.
    answer.catch(() => undefined);
    this.answers.push(answer);
  }

  private gather(table: string, row: NewRow): void {
    const columns = Object.keys(row);
    const key = `${table} ${columns.join()}`;
    let group = this.gathered.get(key);
    if (!group) this.gathered.set(key, (group = { table, columns, rows: [] }));
    group.rows.push(row);
    if (group.rows.length >= ROWS_PER_STATEMENT_MAX) this.flush();
  }

  private flush(): void {
    if (this.gathered.size === 0) return;
    const groups = this.gathered;
    this.gathered = new Map();
    for (const group of groups.values()) this.send(insertRows(this.tx, group));
  }
}

/** Sends one event's changes and waits for each: for when a refusal must be known to be this event's. */
export async function sendOneByOne(tx: TransactionSql, changes: readonly Change[]): Promise<void> {
  for (const change of changes) {
    const outbox = new Outbox(tx);
    outbox.add(change);
    await outbox.sent();
  }
}

/** One parameter however many rows: the server takes them apart by the table's own column types. */
function insertRows(tx: TransactionSql, { table, columns, rows }: Gathered): Statement {
  return tx`insert into ${tx(table)} (${tx(columns)}) select ${tx(columns)}
    from json_populate_recordset(null::${tx(table)}, ${JSON.stringify(rows)}::text::json)`;
}
