/** It came to nothing. The message is for the model and for the user: it holds nothing of the connection string. */
export class ForeignDatabaseFailed extends Error {
  override readonly name = 'ForeignDatabaseFailed';
}

export type ForeignQuery = Readonly<{
  /** One statement; the server refuses several. */
  statement: string;
  /** Otherwise the server runs it in a transaction that cannot write, and that is undone. */
  mayWrite: boolean;
  signal: AbortSignal;
}>;

export type ForeignRows = Readonly<{
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  /** What the statement was, as the server names it: `SELECT`, `INSERT` … */
  command: string;
  /** Rows that were read, or that a statement changed. */
  count: number;
  /** There were more rows, or longer values, than are told. */
  truncated: boolean;
}>;

/** Databases of users, anywhere on the internet: neither they nor what is asked of them is to be trusted. */
export abstract class ForeignDatabases {
  /** Refuses a connection string before it is kept. @throws ForeignDatabaseFailed */
  abstract check(connectionString: string): Promise<void>;
  /** @throws ForeignDatabaseFailed */
  abstract query(connectionString: string, query: ForeignQuery): Promise<ForeignRows>;
}
