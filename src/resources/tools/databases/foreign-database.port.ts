/** A query or a check failed. The message is for the model and the user, and contains nothing of the connection string. */
export class ForeignDatabaseFailed extends Error {
  override readonly name = 'ForeignDatabaseFailed';
}

export type ForeignQuery = Readonly<{
  /** One statement; the server refuses several. */
  statement: string;
  /** If false, the server runs the statement in a read-only transaction, which is rolled back. */
  mayWrite: boolean;
  signal: AbortSignal;
}>;

export type ForeignRows = Readonly<{
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  /** The kind of statement, as the server names it: `SELECT`, `INSERT` … */
  command: string;
  /** The number of rows that were read or changed. */
  count: number;
  /** Rows are missing, or values are shortened. */
  truncated: boolean;
}>;

/** Databases of users, anywhere on the internet. Neither the databases nor the statements are trusted. */
export abstract class ForeignDatabases {
  /** Checks a connection string before it is stored. @throws ForeignDatabaseFailed */
  abstract check(connectionString: string): Promise<void>;
  /** @throws ForeignDatabaseFailed */
  abstract query(connectionString: string, query: ForeignQuery): Promise<ForeignRows>;
}
