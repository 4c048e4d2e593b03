import type { Sql } from 'postgres';

/** Answers a query of a projection from memory where it is known that nothing has changed. `key` tells its queries apart. */
export type Remembering = <T>(projection: string, key: string, query: () => Promise<T>) => Promise<T>;

/** The connection that `*.queries.ts` read through. Queries name tables with their schema, as in `agents.agent`. */
export class ReadModels {
  constructor(
    readonly sql: Sql,
    /** For the few queries that every question asks. */
    readonly remembered: Remembering = (_projection, _key, query) => query(),
  ) {}
}
