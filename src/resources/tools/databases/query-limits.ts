/** The limits of a query to a user's database. */
export type QueryLimits = Readonly<{
  /** The time limit for a connection to each address. */
  connectMs: number;
  /** The server stops a statement after this time. */
  statementMs: number;
  /** From the lookup of the host to the last row; the caller does not wait longer. */
  deadlineMs: number;
  rowsMax: number;
  /** The size of the rows, as JSON. */
  resultBytesMax: number;
  /** Longer values are truncated. */
  valueCharactersMax: number;
  /** The maximum number of bytes that are read from the server. */
  receivedBytesMax: number;
  /** The maximum number of concurrent queries; each takes a process and a connection. */
  atOnceMax: number;
}>;

export const QUERY_LIMITS: QueryLimits = {
  connectMs: 5_000,
  statementMs: 15_000,
  deadlineMs: 25_000,
  rowsMax: 1_000,
  resultBytesMax: 256 * 1024,
  valueCharactersMax: 10_000,
  receivedBytesMax: 16 * 1024 * 1024,
  atOnceMax: 8,
};
