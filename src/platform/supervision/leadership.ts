import type { Sql, TransactionSql } from 'postgres';
import type { Timing } from '../../kernel/timing.js';
import { SharedCalls } from '../shared-calls.js';
import { beat, dropSnapshot, HEARTBEAT } from './heartbeat.js';

/** How often a standby tries to take over. */
const STANDBY_POLL_MS = 500;
/** Parts in one statement: more than a service has. */
const PARTS_MAX = 1_000;

/** The text whose `hashtextextended` is the key of the advisory lock. */
const lockOf = (part: string): string => `verbatim:${part}`;

/** The parts that have a leader in some process. */
export async function partsPlayed(sql: Sql, parts: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await sql<{ part: string }[]>`
    select part from unnest(${[...parts]}::text[], ${parts.map(lockOf)}::text[]) as wanted (part, lock)
    where hashtextextended(lock, 0) in (
      select (classid::bigint << 32) | objid::bigint from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where locktype = 'advisory' and objsubid = 1 and granted and datname = current_database()
    )`;
  return new Set(rows.map(({ part }) => part));
}

/**
 * A transaction that stays open as long as its connection. It holds the locks of all parts. Between its statements it has no
 * snapshot (`dropSnapshot`).
 */
type Session = Readonly<{
  lost: AbortSignal;
  parts: Set<string>;
  /** Tries to take the locks of parts. Parts that are tried at the same time share a statement. */
  locks: SharedCalls<string, boolean>;
  end: () => void;
  ended: Promise<void>;
}>;

/** The connection that made this process the leader of a part was lost. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/** Whether each part is ours now. An error ends the transaction. */
async function tryLocks(tx: TransactionSql, parts: readonly string[], ending: AbortController): Promise<readonly boolean[]> {
  // Outside the transaction a lock would be released at once.
  if (ending.signal.aborted) throw new LeadershipLost('The transaction that holds the locks has ended.');
  try {
    const rows = await tx<{ ours: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(lock, 0)) as ours
      from unnest(${parts.map(lockOf)}::text[]) with ordinality as wanted (lock, place) order by place`;
    await dropSnapshot(tx);
    return rows.map(({ ours }) => ours);
  } catch (error) {
    ending.abort();
    throw error;
  }
}

/**
 * Elects the process for each part that only one process may run: the holder of a Postgres advisory lock. All locks of a process
 * are on one connection. When it breaks, the locks are released and a standby takes over. A frozen process keeps its connection,
 * so the server closes it when its heartbeats stop. The lock avoids duplicate work; a former leader that has not noticed the loss
 * is fenced out by the epoch in its writes.
 */
export class Leadership {
  private session: Promise<Session> | undefined;
  private closed = false;

  constructor(
    private readonly sql: Sql,
    private readonly timing: Timing,
    private readonly heartbeat = HEARTBEAT,
  ) {}

  /**
   * Waits until this process leads the part. The returned signal aborts when the part is lost; undefined if `signal` aborted
   * first. `onStandby` is called whenever another process is found to lead.
   * @throws if Postgres is unavailable
   */
  async gain(part: string, signal: AbortSignal, onStandby = (): void => undefined): Promise<AbortSignal | undefined> {
    while (!signal.aborted) {
      const lost = await this.tryGain(part);
      if (lost) return lost;
      onStandby();
      await this.timing.pause(STANDBY_POLL_MS, signal);
    }
    return undefined;
  }

  /** Takes the part if it is free or already held by this process. */
  async tryGain(part: string): Promise<AbortSignal | undefined> {
    const session = await this.opened();
    if (session.parts.has(part)) return session.lost;
    if (!(await session.locks.call(part, Infinity))) return undefined;
    session.parts.add(part);
    return session.lost;
  }

  /** Gives up all parts. */
  async close(): Promise<void> {
    this.closed = true;
    const session = await this.session?.catch(() => undefined);
    session?.end();
    await session?.ended;
  }

  private opened(): Promise<Session> {
    if (this.closed) throw new Error('This process has given up its leadership.');
    if (this.session) return this.session;
    const opening = (this.session = this.open());
    const forget = () => {
      if (this.session === opening) this.session = undefined;
    };
    opening.then(({ lost }) => lost.addEventListener('abort', forget), forget);
    return opening;
  }

  private open(): Promise<Session> {
    return new Promise((resolve, reject) => {
      const lost = new AbortController();
      const ending = new AbortController();
      const end = () => ending.abort();
      const { everyMs, silentMsMax } = this.heartbeat;
      const ended = this.sql
        .begin('isolation level read committed', async (tx) => {
          await tx`select set_config('idle_in_transaction_session_timeout', ${String(silentMsMax)}, true)`;
          const locks = new SharedCalls((parts: readonly string[]) => tryLocks(tx, parts, ending), {
            callsMax: 1,
            requestsMax: PARTS_MAX,
          });
          resolve({ lost: lost.signal, parts: new Set(), locks, end, ended });
          await beat(tx, this.timing, everyMs, ending.signal);
        })
        .catch(reject)
        .finally(() => {
          end();
          lost.abort();
        });
    });
  }
}
