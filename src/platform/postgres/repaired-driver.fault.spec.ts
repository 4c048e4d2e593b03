import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import postgres, { type Sql } from 'postgres';
import { PostgresLine } from '../../../test/support/postgres-for-tests.line.js';
import { testServerUrl } from '../../../test/support/postgres-for-tests.js';
import { DriverUnrepaired, refuseUnrepaired } from './database.js';

const ROUNDS = 20;
const ANSWER_MS_MAX = 5_000;

let line: PostgresLine;
let sql: Sql;

beforeEach(async () => {
  line = await PostgresLine.to(testServerUrl());
  sql = postgres(line.url, { max: 1, backoff: () => 0.01, onnotice: () => undefined });
});

afterEach(async () => {
  line.mend();
  await sql.end({ timeout: 1 });
  await line.close();
});

const inTime = <T>(answer: Promise<T>): Promise<T> =>
  Promise.race([answer, pause(ANSWER_MS_MAX, undefined, { ref: false }).then(() => Promise.reject(new Error('No answer.')))]);

/** The pool's one connection serves again; a first statement may still learn that it was lost. */
async function expectUsable(): Promise<void> {
  await inTime(sql`select 1`.then(Boolean, () => false));
  expect(await inTime(sql`select 'usable' as state`.execute())).toEqual([{ state: 'usable' }]);
}

it('is what is installed; the driver as it is published is refused', () => {
  expect(() => refuseUnrepaired(postgres)).not.toThrow();
  expect(() => refuseUnrepaired({})).toThrow(DriverUnrepaired);
});

it('ends a transaction whose connection dies, and nothing else', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const transaction = sql.begin(async (tx) => {
      await tx`select 1`;
      line.cut();
      await tx`select 2`.catch(() => pause(10));
      await tx`select 3`;
    });
    await expect(inTime(transaction)).rejects.toMatchObject({ code: expect.stringMatching(/^(CONNECTION|ECONN|EPIPE)/) });
    line.mend();
    await expectUsable();
  }
});

it('asks on after connections that are lost with statements on their way', async () => {
  const asking = { on: true };
  const ask = () => {
    void sql`select 1`.catch(() => undefined);
    if (asking.on) setImmediate(ask);
  };
  await expectUsable();
  ask();
  for (let round = 0; round < ROUNDS; round++) {
    await pause(5);
    line.cut();
    await pause(round % 5);
    line.mend();
  }
  asking.on = false;
  await expectUsable();
});

it('blames nobody else for the error that a connection ends with', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    await expect(inTime(sql`select pg_terminate_backend(pg_backend_pid())`.execute())).rejects.toThrow();
    expect(await inTime(sql`select ${round}::int as round`.execute())).toEqual([{ round }]);
  }
});

it('refuses a value that cannot be sent, and only that', async () => {
  const n = (value: unknown) => sql<{ n: string }[]>`select ${value as string}::text as n`.then(([row]) => row!.n);
  // The server has told what it wants: from here on values go out with the statement.
  await inTime(n('prepared'));
  for (const values of [
    ['one', Symbol('two'), 'three'],
    [Symbol('one'), 'two', 'three'],
    ['one', 'two', Symbol('three')],
  ]) {
    const answers = await inTime(Promise.allSettled(values.map(n)));
    expect(answers).toEqual(
      values.map((value) =>
        typeof value === 'string' ? { status: 'fulfilled', value } : { status: 'rejected', reason: expect.any(TypeError) },
      ),
    );
  }
  await expectUsable();
});
