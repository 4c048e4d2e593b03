import type { Columns, SetStatement } from '../../../projections/projection.js';

/** The rows of set statements, merged as long as the order of the statements preserves the order of the rows. */
export class SetBatch {
  private readonly rows = new Map<SetStatement, Columns[]>();
  /** The highest step of the statements that each key has a row in. */
  private readonly reached = new Map<string, number>();

  /** Adds a row. False if the batch must be sent before it. */
  add(set: SetStatement, row: Columns): boolean {
    if (set.key !== undefined) {
      const about = String(row[set.key]);
      if ((this.reached.get(about) ?? 0) >= set.step) return false;
      this.reached.set(about, set.step);
    }
    const rows = this.rows.get(set);
    if (rows) rows.push(row);
    else this.rows.set(set, [row]);
    return true;
  }

  /** Whether a statement of the batch writes or reads the table. */
  concerns(table: string): boolean {
    return [...this.rows.keys()].some(({ tables }) => tables.includes(table));
  }

  /** Whether a statement of the batch removes rows of the table. */
  removesFrom(table: string): boolean {
    return [...this.rows.keys()].some(({ removes, tables }) => removes && tables.includes(table));
  }

  /** Whether a statement of the batch must be sent before another, because one removes rows that the other uses. */
  precedes(set: SetStatement): boolean {
    return [...this.rows.keys()].some(
      (other) => other !== set && (other.removes || set.removes) && other.tables.some((table) => set.tables.includes(table)),
    );
  }

  /** The statements with their rows, in sending order. */
  get inOrder(): readonly (readonly [SetStatement, readonly Columns[]])[] {
    return [...this.rows].sort(([one], [other]) => one.step - other.step);
  }
}
