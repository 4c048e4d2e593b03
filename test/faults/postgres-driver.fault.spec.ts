import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import postgres, { type Sql } from 'postgres';
import { DriverUnrepaired, refuseUnrepaired } from '../../src/platform/postgres/database.js';
import { eventually } from '../support/eventually.js';
import { PostgresLine } from '../support/postgres-for-tests.line.js';
import { type TestDatabase, testDatabase } from '../support/postgres-for-tests.js';

let database: TestDatabase;
let uncaught: Error[];
const note = (error: Error) => void uncaught.push(error);

beforeAll(async () => {
  database = await testDatabase();
  await database.sql`create table entry (id integer primary key, text text not null, at timestamptz)`;
  uncaught = [];
  process.on('uncaughtException', note);
});
afterAll(async () => {
  process.off('uncaughtException', note);
  await database.close();
});

const kill = async (pid: number) => {
  await database.sql`select pg_terminate_backend(${pid})`;
  await eventually(async () => (await database.sql`select 1 from pg_stat_activity where pid = ${pid}`).length === 0);
};
const pidOf = async (sql: Sql | postgres.TransactionSql) =>
  (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;

/** Runs against a separate pool, and then checks that all its connections are usable. */
async function withPool(run: (sql: Sql) => Promise<void>, connections = 2, url = database.url): Promise<void> {
  const sql = postgres(url, { max: connections, fetch_types: false, backoff: () => 0.01, onnotice: () => undefined });
  try {
    await run(sql);
    for (let round = 0; round < 3; round++) {
      const answers = Array.from(
        { length: connections },
        (_, n) => sql<{ n: number }[]>`select pg_sleep(0.02), ${n}::integer as n`,
      );
      expect((await Promise.all(answers)).map(([row]) => row!.n)).toEqual([...Array(connections).keys()]);
    }
    expect(uncaught).toEqual([]);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** The defects that `patches/postgres+3.4.9.patch` repairs. Each test fails or hangs on the published driver. */
describe('The driver', () => {
  it('is the repaired one, and the published one is refused', () => {
    expect(() => refuseUnrepaired(postgres)).not.toThrow();
    expect(() => refuseUnrepaired({})).toThrow(DriverUnrepaired);
  });

  it('survives the end of a connection in a transaction with pending statements', async () => {
    await withPool(async (sql) => {
      const lost = sql.begin(async (tx) => {
        const pid = await pidOf(tx);
        const underway = [tx`select pg_sleep(600)`, tx`select 2`, tx`select 3`];
        const failed = Promise.all(underway);
        await Promise.all([failed, kill(pid)]);
      });
      await expect(lost).rejects.toMatchObject({ code: expect.stringMatching(/CONNECTION_CLOSED|ECONNRESET|57P01/) as unknown });
    });
  });

  it('survives the end of a connection between two statements, and refuses further statements of the transaction', async () => {
    await withPool(async (sql) => {
      let afterwards: unknown;
      const lost = sql.begin(async (tx) => {
        await tx`insert into entry (id, text) values (1, 'dead')`;
        await kill(await pidOf(tx));
        // Another user of the pool may have the reopened connection by now.
        await Promise.all([sql`select 1`, sql`select 2`, sql`select 3`]);
        afterwards = await tx`insert into entry (id, text) values (2, 'outside of any transaction')`.catch(
          (error: unknown) => error,
        );
      });
      await expect(lost).rejects.toBeDefined();
      await eventually(() => afterwards !== undefined);
      expect(afterwards).toBeInstanceOf(Error);
      expect(await sql`select id from entry`).toHaveLength(0);
    });
  });

  it('does not fail the next statement with the error that ended the last connection', async () => {
    await withPool(async (sql) => {
      for (let n = 0; n < 5; n++) {
        const [sleeping, pid] = [sql`select pg_sleep(600)`.catch((error: unknown) => error), await sleeperOf(sql)];
        await kill(pid);
        expect(await sleeping).toBeInstanceOf(Error);
        expect((await sql`select 1 as one`)[0]!['one']).toBe(1);
      }
    });
  });

  const sleeperOf = async (sql: Sql): Promise<number> => {
    let pid: number | undefined;
    await eventually(async () => {
      const rows = await sql<{ pid: number }[]>`select pid from pg_stat_activity where query like 'select pg_sleep(600)%'`;
      pid = rows[0]?.pid;
      return pid !== undefined;
    });
    return pid!;
  };

  it('continues after many connections were lost with pending statements', async () => {
    const line = await PostgresLine.to(database.url);
    await withPool(
      async (sql) => {
        let asking = true;
        const ask = () => {
          void sql`select 1`.catch(() => undefined);
          if (asking) setImmediate(ask);
        };
        ask();
        for (let n = 0; n < 20; n++) {
          await pause(5);
          line.cut();
          await pause(n % 5);
          line.mend();
        }
        asking = false;
        await eventually(() => sql`select 1`.then(Boolean, () => false));
      },
      1,
      line.url,
    );
    await line.close();
  });

  it('reserves a connection that it has to open first', async () => {
    await withPool(async (sql) => {
      const reserved = await sql.reserve();
      expect(await reserved`select 1 as one`).toEqual([{ one: 1 }]);
      reserved.release();
    });
  });

  it('does not return a lost reserved connection to the pool', async () => {
    await withPool(async (sql) => {
      const reserved = await sql.reserve();
      await kill(await pidOf(reserved));
      await expect(reserved`select 1`).rejects.toBeDefined();
      reserved.release();
    });
  });

  it.each<[string, unknown]>([
    ['that is undefined', undefined],
    ['that is an invalid date', new Date(NaN)],
  ])('fails only the statement with a parameter %s, among many pending ones', async (_what, parameter) => {
    await withPool(async (sql) => {
      let results: PromiseSettledResult<unknown>[] = [];
      const failed = sql.begin(async (tx) => {
        const insert = (id: number, at: unknown) => tx`insert into entry (id, text, at) values (${id}, 'x', ${at as Date})`;
        await insert(10, new Date());
        const underway = [tx`select pg_sleep(0.05)`, insert(11, null), insert(12, parameter), insert(13, null)];
        results = await Promise.allSettled(underway);
      });
      await expect(failed).rejects.toBeDefined();
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
      expect(await sql`select id from entry`).toHaveLength(0);
    }, 1);
  });

  it.each([0, 1, 2])(
    'returns each result to its own statement when number %i of three values cannot be sent',
    async (unsendable) => {
      await withPool(async (sql) => {
        const say = (value: unknown) =>
          sql<{ said: string }[]>`select ${value as string}::text as said`.then(([row]) => row!.said);
        // The statement is prepared now. From here on values are sent together with it, on an idle connection.
        await say('prepared');
        const values = ['one', 'two', 'three'].map((value, n) => (n === unsendable ? Symbol(value) : value));
        const answers = await Promise.allSettled(values.map(say));
        expect(answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.status))).toEqual(
          values.map((value) => (typeof value === 'symbol' ? 'rejected' : value)),
        );
      }, 1);
    },
  );

  it('sends the statements of one callback together, when it ends', async () => {
    await withPool(async (sql) => {
      await sql`select 1`;
      const written = jest.spyOn(Socket.prototype, 'write');
      const answers = [sql`select 2`.execute(), sql`select 3`.execute()];
      await new Promise<void>((resolve) => process.nextTick(resolve));
      const statementsIn = ([bytes]: unknown[]) => String(bytes).match(/select \d/g);
      expect(written.mock.calls.map(statementsIn)).toEqual([['select 2', 'select 3']]);
      written.mockRestore();
      await Promise.all(answers);
    }, 1);
  });

  it('keeps no memory for the statements that a pool has sent', async () => {
    const { default: queue } = (await import(new URL('../../node_modules/postgres/src/queue.js', import.meta.url).href)) as {
      default: (initial: readonly string[]) => { length: number; shift(): string; push(item: string): string };
    };
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    // A connection leaves the queue of the open ones for each statement, and comes back after it.
    const open = queue(['first', 'second', 'third']);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let statement = 0; statement < 1_000_000; statement++) open.push(open.shift());
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(1_000_000);
    expect([open.length, open.shift(), open.shift(), open.shift(), open.length]).toEqual([3, 'second', 'third', 'first', 0]);
  });
});
