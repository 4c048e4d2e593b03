import type { TransactionSql } from 'postgres';
import type { Timing } from '../../kernel/timing.js';

/** How often the server hears from a transaction that holds a lock, and after how much silence it ends the transaction. */
export type Heartbeat = Readonly<{ everyMs: number; silentMsMax: number }>;

export const HEARTBEAT: Heartbeat = { everyMs: 3_000, silentMsMax: 15_000 };

/**
 * Replaces the last statement of a transaction, which keeps its snapshot until then. While any transaction has a snapshot, Postgres
 * removes no rows of any table that were replaced or deleted later.
 */
export const dropSnapshot = (tx: TransactionSql) => tx`select`.simple();

/** Reports to the server until the signal aborts. A frozen process does not, so the server ends its transaction. */
export async function beat(tx: TransactionSql, timing: Timing, everyMs: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    await timing.pause(everyMs, signal);
    if (signal.aborted) return;
    await dropSnapshot(tx);
  }
}
