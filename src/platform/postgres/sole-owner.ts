import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { KEEPALIVES } from './database.js';

/** The key of the advisory lock. */
export const LOCK = 0x7665_7262;
/** Postgres may still hold the session of a predecessor that has just been killed. */
const CLAIM_WAIT_MS = 5_000;
const CLAIM_RETRY_MS = 250;
/** How often the claim is confirmed. A lost connection loses the lock, and a new one takes it again. */
export const CONFIRM_MS = 2_000;

/** Longer than the server takes to notice a broken connection. */
export const FOREIGN_MS = 30_000;

/** Another service without NATS uses this database. The two would not receive each other's signals. */
export class DatabaseInUse extends Error {
  override readonly name = 'DatabaseInUse';
  constructor() {
    super('Another Verbatim process is using this database. Stop it, or set NATS_URL so that several can work together.');
  }
}

export type SoleOwnership = Readonly<{ release(): Promise<void> }>;

/**
 * Claims a database for this process alone, because signals and leases within a process do not reach another one. The claim ends
 * with the process, even after a crash. @throws DatabaseInUse
 */
export async function claimDatabaseAlone(url: string, onLost: (error: DatabaseInUse) => void): Promise<SoleOwnership> {
  const sql = postgres(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    connection: KEEPALIVES,
    onnotice: () => {},
  });
  const claim = async (): Promise<boolean> =>
    (await sql<{ ours: boolean }[]>`select pg_try_advisory_lock(${LOCK}) as ours`)[0]!.ours;
  const givingUpAt = performance.now() + CLAIM_WAIT_MS;
  try {
    while (!(await claim())) {
      if (performance.now() > givingUpAt) throw new DatabaseInUse();
      await pause(CLAIM_RETRY_MS);
    }
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
  let foreignSince: number | undefined;
  const confirm = async (): Promise<void> => {
    foreignSince = (await claim()) ? undefined : (foreignSince ?? performance.now());
    // The lock may be held by this process's own lost connection. Another process holds it for longer.
    if (foreignSince !== undefined && performance.now() - foreignSince > FOREIGN_MS) onLost(new DatabaseInUse());
  };
  // While Postgres is unavailable, no other process can claim the database either.
  const timer = setInterval(() => void confirm().catch(() => undefined), CONFIRM_MS).unref();
  return {
    release: async () => {
      clearInterval(timer);
      await sql.end({ timeout: 1 });
    },
  };
}
