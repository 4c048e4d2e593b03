import type { ForeignRows } from './foreign-database.port.js';
import type { QueryLimits } from './query-limits.js';
import { cutText } from '../../../kernel/cut-text.js';

type Columns = readonly Readonly<{ name: string }>[];

const CUT = '…';

/** The rows of a statement, limited in number, in bytes and in the length of each value. */
export class CollectedRows {
  private readonly rows: (readonly unknown[])[] = [];
  private columns: Columns = [];
  private bytes = 0;
  private truncated = false;

  constructor(private readonly limits: Pick<QueryLimits, 'rowsMax' | 'resultBytesMax' | 'valueCharactersMax'>) {}

  /** Adds rows. Returns false if there is no room for more. */
  take(columns: Columns | undefined, batch: readonly (readonly unknown[])[]): boolean {
    this.columns = columns ?? this.columns;
    for (const row of batch) {
      const values = row.map((value) => this.jsonOf(value));
      this.bytes += Buffer.byteLength(JSON.stringify(values));
      if (this.rows.length === this.limits.rowsMax || this.bytes > this.limits.resultBytesMax) {
        this.truncated = true;
        return false;
      }
      this.rows.push(values);
    }
    return true;
  }

  /** The result, with `command` and `count` as the server reports them at the end of the statement. */
  result({ columns, command, count }: Readonly<{ columns?: Columns; command?: string; count?: number | null }>): ForeignRows {
    const names = (columns ?? this.columns).map(({ name }) => name);
    const { rows, truncated } = this;
    return {
      columns: names,
      rows,
      command: command ?? 'SELECT',
      count: names.length > 0 ? rows.length : (count ?? 0),
      truncated,
    };
  }

  private jsonOf(value: unknown): unknown {
    const text = typeof value === 'string' ? value : typeof value === 'object' && value !== null ? JSON.stringify(value) : '';
    if (text.length <= this.limits.valueCharactersMax) return value;
    this.truncated = true;
    return cutText(text, this.limits.valueCharactersMax) + CUT;
  }
}
