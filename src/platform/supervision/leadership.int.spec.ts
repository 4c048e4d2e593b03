import { spawn } from 'node:child_process';
import { on } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import postgres from 'postgres';
import { eventually } from '../../../test/support/eventually.js';
import { type TestDatabase, testDatabase } from '../../../test/support/postgres-for-tests.js';
import { openDatabase } from '../postgres/database.js';
import { systemTiming } from '../system-timing.js';
import { HEARTBEAT } from './heartbeat.js';
import { Leadership, partsPlayed } from './leadership.js';

const OWNER = fileURLToPath(new URL('../../../test/support/leader.owner.js', import.meta.url));
/** Longer than a busy machine delays a heartbeat. */
const SILENT_MS_MAX = 2_000;

let database: TestDatabase;
let one: Leadership;
let other: Leadership;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  [one, other] = [new Leadership(database.sql, systemTiming), new Leadership(database.sql, systemTiming)];
});
afterEach(async () => {
  await one.close();
  await other.close();
});

const killHolders = () => database.sql`
  select pg_terminate_backend(pid) from pg_locks join pg_database on pg_database.oid = pg_locks.database
  where locktype = 'advisory' and datname = current_database() and pid <> pg_backend_pid()`;

describe('leadership of a part', () => {
  it('is gained by the first caller, for each part separately', async () => {
    expect(await one.tryGain('a')).toBeDefined();
    expect(await other.tryGain('a')).toBeUndefined();
    expect(await other.tryGain('b')).toBeDefined();
    expect(await one.tryGain('a')).toBeDefined();
  });

  it('is tried with one statement for all parts that are tried together, each with its own outcome', async () => {
    await other.tryGain('part 7');
    const sent: string[] = [];
    const sql = postgres(database.url, { debug: (_, statement) => void sent.push(statement) });
    const busy = new Leadership(sql, systemTiming);
    const gained = await Promise.all(Array.from({ length: 60 }, (_, number) => busy.tryGain(`part ${number}`)));
    expect(gained.flatMap((lost, number) => (lost ? [] : [number]))).toEqual([7]);
    expect(sent.filter((statement) => statement.includes('lock'))).toHaveLength(1);
    expect(await other.tryGain('part 59')).toBeUndefined();
    await busy.close();
    await sql.end();
  });

  it('is not gained through a transaction that is ending', async () => {
    await one.tryGain('a');
    const [late] = await Promise.allSettled([one.tryGain('b'), one.close()]);
    expect(late.status).toBe('rejected');
    expect(await other.tryGain('b')).toBeDefined();
  });

  it('is gained by a standby when it is released', async () => {
    await one.tryGain('a');
    const standby = other.gain('a', new AbortController().signal);
    await one.close();
    expect((await standby)?.aborted).toBe(false);
  });

  it('is lost with its connection, which aborts its signal, and can be gained again', async () => {
    const lost = await one.tryGain('a');
    await killHolders();
    await eventually(() => lost!.aborted);
    const again = await one.gain('a', new AbortController().signal);
    expect(again!.aborted).toBe(false);
    expect(await other.tryGain('a')).toBeUndefined();
  });

  it('is lost by a process that is frozen, which notices that when it goes on', async () => {
    const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit'];
    const frozen = spawn(process.execPath, [OWNER, database.url, String(SILENT_MS_MAX)], { stdio });
    try {
      const lines = on(createInterface(frozen.stdout), 'line');
      const said = async () => ((await lines.next()).value as [string])[0];
      expect(await said()).toBe('gained');
      expect(await other.tryGain('a')).toBeUndefined();
      frozen.kill('SIGSTOP');
      expect((await other.gain('a', new AbortController().signal))?.aborted).toBe(false);
      frozen.kill('SIGCONT');
      expect(await said()).toBe('lost');
    } finally {
      frozen.kill('SIGKILL');
    }
  });

  it('is taken over after the transactions of a frozen leader, whose locks its successor needs', async () => {
    const sql = openDatabase({ url: database.url, name: 'writes of a leader', connections: 1 });
    const [row] = await sql<{ ms: number }[]>`
      select setting::integer as ms from pg_settings where name = 'idle_in_transaction_session_timeout'`;
    await sql.end();
    expect(row!.ms).toBeGreaterThan(0);
    expect(row!.ms).toBeLessThan(HEARTBEAT.silentMsMax - HEARTBEAT.everyMs);
  });

  it('is kept by a process that has nothing to do, for longer than a frozen one keeps it', async () => {
    const quiet = new Leadership(database.sql, systemTiming, { everyMs: 50, silentMsMax: SILENT_MS_MAX });
    const lost = await quiet.tryGain('a');
    const heardAt = async () => {
      const [leader] = await database.sql<{ at: Date }[]>`
        select state_change as at from pg_stat_activity join pg_locks using (pid)
        where locktype = 'advisory' and granted and datname = current_database()`;
      return leader!.at.getTime();
    };
    const first = await heardAt();
    await eventually(async () => (await heardAt()) > first + SILENT_MS_MAX);
    expect(lost!.aborted).toBe(false);
    await quiet.close();
  });

  it.each(['read committed', 'repeatable read'] as const)(
    'lets Postgres remove old rows, also if transactions are %s',
    async (isolation) => {
      const sql = postgres(database.url, { connection: { default_transaction_isolation: isolation }, onnotice: () => undefined });
      const quiet = new Leadership(sql, systemTiming, { everyMs: 50, silentMsMax: SILENT_MS_MAX });
      const leaders = async () => database.sql<{ keepsRows: boolean; heardAt: Date }[]>`
        select backend_xmin is not null or backend_xid is not null as "keepsRows", state_change as "heardAt"
        from pg_stat_activity
        where datname = current_database() and pid in (select pid from pg_locks where locktype = 'advisory' and granted)`;
      const keepsNone = async () => {
        const all = await leaders();
        return all.length > 0 && all.every(({ keepsRows }) => !keepsRows);
      };
      try {
        await quiet.tryGain('a');
        await quiet.tryGain('b');
        await eventually(keepsNone);
        const [gained] = await leaders();
        await eventually(async () => (await leaders())[0]!.heardAt > gained!.heardAt);
        await eventually(keepsNone);
      } finally {
        await quiet.close();
        await sql.end();
      }
    },
  );

  it('is visible to all processes', async () => {
    const played = async () => [...(await partsPlayed(database.sql, ['a', 'b', 'c']))].sort();
    expect(await played()).toEqual([]);
    await one.tryGain('a');
    await other.tryGain('c');
    expect(await played()).toEqual(['a', 'c']);
    await one.close();
    expect(await played()).toEqual(['c']);
  });

  it('is not waited for after an abort', async () => {
    await one.tryGain('a');
    const calledOff = new AbortController();
    const waiting = other.gain('a', calledOff.signal);
    calledOff.abort();
    expect(await waiting).toBeUndefined();
  });
});
