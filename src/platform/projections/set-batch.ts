import type { Columns, SetStatement } from '../../../projections/projection.js';

/** Rows for the statements of sets, brought together as long as the order in which the statements are sent keeps theirs. */
export class SetBatch {
  private readonly rows = new Map<SetStatement, Columns[]>();
  /** The highest step that anything is told of in. */
  private readonly reached = new Map<string, number>();

  /** False when the row must not be sent with what is here, which then must be sent before it. */
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

  /** Whether a statement here changes or looks at the table. */
  concerns(table: string): boolean {
    return [...this.rows.keys()].some(({ tables }) => tables.includes(table));
  }

  /** Whether a statement here takes rows of the table away. */
  removesFrom(table: string): boolean {
    return [...this.rows.keys()].some(({ removes, tables }) => removes && tables.includes(table));
  }

  /** Whether a statement here has to be sent before another, because one of them takes rows away that the other is about. */
  precedes(set: SetStatement): boolean {
    return [...this.rows.keys()].some(
      (other) => other !== set && (other.removes || set.removes) && other.tables.some((table) => set.tables.includes(table)),
    );
  }

  /** In the order in which they are to be sent. */
  get inOrder(): readonly (readonly [SetStatement, readonly Columns[]])[] {
    return [...this.rows].sort(([one], [other]) => one.step - other.step);
  }
}
