import type { PendingQuery, Row, TransactionSql } from 'postgres';
import type { Codec } from '../src/kernel/codec.js';
import type { Event, Recorded } from '../src/kernel/events.js';

export type Statement = PendingQuery<readonly Row[]>;

/** The statements that make the tables say what an event said. They are sent in order, in the transaction of the checkpoint. */
export type Handler<E extends Event> = (event: Recorded<E>, sql: TransactionSql) => Statement | readonly Statement[];

export type Handlers<E extends Event> = { readonly [Type in E['type']]?: Handler<Extract<E, { type: Type }>> };

/**
 * A read model: one Postgres schema, filled from the log and from nothing else. Its name is its checkpoint and, with `_`
 * for `-`, its schema; it never changes. Table names stay bare: the runner picks the schema, so that a rebuild runs the same
 * statements beside the live rows.
 */
export type Projection<E extends Event = Event> = Readonly<{
  name: string;
  /** The stream categories it reads. */
  categories: readonly string[];
  /** Every event type it may meet and wants decoded; others pass it by. */
  codec: Codec<E>;
  /** Its tables: a URL of the `.sql` file beside it. */
  ddl: URL;
  on: Handlers<E>;
}>;

export const defineProjection = <E extends Event>(projection: Projection<E>): Projection<E> => projection;

export const schemaOf = (projection: Pick<Projection, 'name'>): string => projection.name.replaceAll('-', '_');
