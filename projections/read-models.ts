import { Injectable } from '@nestjs/common';
import type { Sql } from 'postgres';

/**
 * Answers a query from memory as long as the projection is known to be unchanged. `key` identifies the query within the
 * projection.
 */
export type Remembering = <T>(projection: string, key: string, query: () => Promise<T>) => Promise<T>;

/** The connection that the classes of `*.queries.ts` use. */
export class ReadModels {
  constructor(
    readonly sql: Sql,
    /** For frequent queries. */
    readonly remembered: Remembering = (_projection, _key, query) => query(),
  ) {}
}

/** Reads a read model. The statements name tables with their schema, as in `agents.agent`. */
@Injectable()
export abstract class Queries {
  constructor(protected readonly readModels: ReadModels) {}

  protected get sql(): Sql {
    return this.readModels.sql;
  }
}
