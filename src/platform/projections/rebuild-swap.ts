import type { Sql, TransactionSql } from 'postgres';
import type { Timing } from '../../kernel/timing.js';
import { backOffMs } from '../supervision/back-off.js';

export const rebuiltOf = (schema: string): string => `${schema}_rebuilt`;
const retiredOf = (schema: string): string => `${schema}_retired`;

/** Lock timeout of a drop. It ends before Postgres checks for deadlocks, after one second. */
const DROP_LOCK_MS = 200;
const DROPS_TRIED_MAX = 20;

/**
 * Swaps the schemas by renaming tables. Unlike dropping, that does not wait for readers: a query in progress finishes on the old
 * rows, and a query after the commit gets the new ones. The writer of the old rows is fenced out, because its knowledge of them,
 * such as parked entities, may not apply to the new rows.
 */
export async function putInPlace(tx: TransactionSql, schema: string, hasLive: boolean): Promise<void> {
  if (hasLive) {
    await tx`
      update ${tx(rebuiltOf(schema))}.checkpoint as rebuilt set epoch = greatest(rebuilt.epoch, live.epoch) + 1
      from ${tx(schema)}.checkpoint as live`;
    await tx`alter schema ${tx(schema)} rename to ${tx(retiredOf(schema))}`;
  }
  await tx`alter schema ${tx(rebuiltOf(schema))} rename to ${tx(schema)}`;
}

/** Drops replaced tables once no query reads them, including those that a killed rebuild left. */
export async function dropRetired(sql: Sql, schema: string, timing: Timing): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await sql.begin(async (tx) => {
        await tx`select set_config('lock_timeout', ${String(DROP_LOCK_MS)}, true), set_config('statement_timeout', '0', true)`;
        await tx`drop schema if exists ${tx(retiredOf(schema))} cascade`;
      });
      return;
    } catch (error) {
      const isInUse = (error as { code?: unknown }).code === '55P03';
      if (!isInUse || attempt === DROPS_TRIED_MAX) throw error;
      await timing.pause(backOffMs(attempt, timing));
    }
  }
}
