import type { PendingQuery, Row, Sql } from 'postgres';

/** The rows of all these queries, of which there is at least one. */
export const unionOf = (sql: Sql, queries: readonly PendingQuery<Row[]>[]) =>
  sql`${queries.flatMap((query, index) => (index === 0 ? query : sql` union all ${query}`))}`;
