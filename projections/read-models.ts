import type { Sql } from 'postgres';

/** The connection that `*.queries.ts` read through. Queries name tables with their schema, as in `agents.agent`. */
export class ReadModels {
  constructor(readonly sql: Sql) {}
}
