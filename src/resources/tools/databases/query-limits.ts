/** What a query of somebody else's database may take. */
export type QueryLimits = Readonly<{
  /** Until one of the addresses accepts a connection. */
  connectMs: number;
  /** The server stops a statement after that. */
  statementMs: number;
  /** From looking up the host to the last row; after that the caller waits no longer. */
  deadlineMs: number;
  rowsMax: number;
  /** Of the rows, as JSON. */
  resultBytesMax: number;
  /** A longer value is cut. */
  valueCharactersMax: number;
  /** Whatever a server sends, it sends no more. */
  receivedBytesMax: number;
  /** Each takes a thread and a connection. */
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
