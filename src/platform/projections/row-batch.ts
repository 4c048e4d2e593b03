import type { Columns } from '../../../projections/projection.js';

export type Patch = Readonly<{ key: Columns; values: Columns }>;

/**
 * The changes of a table's rows, merged so that they can be sent as removals, inserts and updates: each row has at most one
 * removal, and one insert or update.
 */
export class RowBatch {
  private keyColumns: readonly string[] | undefined;
  private readonly removed = new Map<string, Columns>();
  private readonly added: (Columns | undefined)[] = [];
  private addedAt = new Map<string, number>();
  private readonly changed = new Map<string, Patch>();

  constructor(readonly table: string) {}

  get removals(): readonly Columns[] {
    return [...this.removed.values()];
  }

  get additions(): readonly Columns[] {
    return this.added.filter((row) => row !== undefined);
  }

  get patches(): readonly Patch[] {
    return [...this.changed.values()];
  }

  /**
   * Adds an insert. This method and the next two return false if the change cannot be merged; the batch must be sent before it
   * then.
   */
  add(row: Columns): boolean {
    if (this.keyColumns) {
      const id = this.idOf(row);
      // An update that is sent before this insert would be lost; after it, it would be wrong.
      if (this.changed.has(id) || this.addedAt.has(id)) return false;
      this.addedAt.set(id, this.added.length);
    }
    this.added.push(row);
    return true;
  }

  change(key: Columns, values: Columns): boolean {
    if (!this.agreesOnKey(key)) return false;
    const id = this.idOf(key);
    const at = this.addedAt.get(id);
    if (at !== undefined) this.added[at] = { ...this.added[at], ...values };
    else if (!this.removed.has(id)) this.changed.set(id, { key, values: { ...this.changed.get(id)?.values, ...values } });
    return true;
  }

  remove(key: Columns): boolean {
    if (!this.agreesOnKey(key)) return false;
    const id = this.idOf(key);
    const at = this.addedAt.get(id);
    if (at !== undefined) this.added[at] = undefined;
    this.addedAt.delete(id);
    this.changed.delete(id);
    this.removed.set(id, key);
    return true;
  }

  /**
   * The first keyed change defines the columns of the key. Earlier inserts are indexed by it from then on. If two of them have the
   * same key, they are sent before the change, so that Postgres refuses them.
   */
  private agreesOnKey(key: Columns): boolean {
    const columns = Object.keys(key).sort();
    if (this.keyColumns) return columns.join() === this.keyColumns.join();
    this.keyColumns = columns;
    for (const [at, row] of this.added.entries()) {
      const id = this.idOf(row!);
      if (this.addedAt.has(id)) return false;
      this.addedAt.set(id, at);
    }
    return true;
  }

  private idOf(row: Columns): string {
    return JSON.stringify(this.keyColumns!.map((column) => String(row[column])));
  }
}
