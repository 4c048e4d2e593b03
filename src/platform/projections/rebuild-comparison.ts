import type { Sql, TransactionSql } from 'postgres';
import type { Timing } from '../../kernel/timing.js';
import { beat, HEARTBEAT } from '../supervision/heartbeat.js';
import { checksumsOf, type Difference, firstDifference, sameChecksums, type TableChecksum } from './comparison.js';

/** The comparison of two schemas at the same position of the log. */
export type Comparison = Readonly<{
  position: bigint;
  live: readonly TableChecksum[];
  rebuilt: readonly TableChecksum[];
  /** Undefined if they are equal. */
  difference: Difference | undefined;
  /** Of a verification, if the rows differ and live has yet to reach this event: the purge of what differs may be between. */
  lateFor?: bigint;
}>;

/** How long to wait for a lock that a page of the live projection holds. */
const LOCK_MS_MAX = 30_000;

/**
 * Blocks the writer of the live schema during the work. Readers are not affected. A process that is frozen meanwhile, as by Ctrl-Z,
 * loses the lock, so that the live writer continues; the work then fails.
 */
export async function heldStill<T>(
  sql: Sql,
  timing: Timing,
  schema: string,
  run: (tx: TransactionSql, position: bigint) => Promise<T>,
  heartbeat = HEARTBEAT,
): Promise<T> {
  return (await sql.begin(async (tx) => {
    await tx`
      select set_config('lock_timeout', ${String(LOCK_MS_MAX)}, true), set_config('statement_timeout', '0', true),
        set_config('idle_in_transaction_session_timeout', ${String(heartbeat.silentMsMax)}, true)`;
    await tx`lock table ${tx(schema)}.checkpoint in exclusive mode`;
    const [row] = await tx<{ position: string }[]>`select position::text from ${tx(schema)}.checkpoint`;
    const over = new AbortController();
    // Without the lock, the end of the transaction fails.
    void beat(tx, timing, heartbeat.everyMs, over.signal).catch(() => undefined);
    try {
      return await run(tx, BigInt(row!.position));
    } finally {
      over.abort();
    }
  })) as T;
}

/**
 * Compares the live and the rebuilt schema. The live writer is blocked only until the other side has reached its position and a
 * snapshot of both is taken. The comparison runs in the snapshot while live continues.
 */
export async function compareAtRest(
  sql: Sql,
  timing: Timing,
  { live, rebuilt }: { live: string; rebuilt: string },
  bringTo: (position: bigint) => Promise<void>,
): Promise<Comparison> {
  return sql.begin('isolation level repeatable read read only', async (view) => {
    const position = await heldStill(sql, timing, live, async (_, at) => {
      await bringTo(at);
      // The first statement takes the snapshot.
      await view`select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`;
      return at;
    });
    const [ours, theirs] = [await checksumsOf(view, live), await checksumsOf(view, rebuilt)];
    const difference = sameChecksums(ours, theirs) ? undefined : await firstDifference(view, live, rebuilt);
    return { position, live: ours, rebuilt: theirs, difference };
  });
}
