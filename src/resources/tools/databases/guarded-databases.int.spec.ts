import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestDatabase, testDatabase } from '../../../../test/support/postgres-for-tests.js';
import { ForeignDatabaseFailed } from './foreign-database.port.js';
import { GuardedDatabases } from './guarded-databases.js';
import type { QueryLimits } from './query-limits.js';

const PASSWORD = 'a-planted-secret';
const { signal } = new AbortController();

let database: TestDatabase;
let url: string;
let user: string;

/** Creates a role as a careful owner would: not a superuser, but with the right to write. */
beforeAll(async () => {
  database = await testDatabase();
  const { sql } = database;
  user = `reader_${new URL(database.url).pathname.slice(-12)}`;
  await sql.unsafe(`create role ${user} login password '${PASSWORD}'`);
  await sql.unsafe(
    `create table shop (id int primary key, name text, at timestamp, big bigint, price numeric, data jsonb, bytes bytea)`,
  );
  await sql.unsafe(
    `insert into shop values (1, 'Tea', '2026-01-01 10:00', 9007199254740993, 1.10, '{"a":1,"b":9007199254740993}', '\\x00ff')`,
  );
  await sql.unsafe(`create function sell() returns int language sql as $$ insert into shop (id) values (99) returning id $$`);
  await sql.unsafe(
    `create function unlock() returns int language plpgsql as $$ begin
       perform set_config('transaction_read_only', 'off', false); insert into shop (id) values (98); return 1; end $$`,
  );
  await sql.unsafe(
    `create sequence counter; grant all on all tables in schema public to ${user}; grant all on sequence counter to ${user}`,
  );
  await sql.unsafe(`grant create on schema public to ${user}`);
  const target = new URL(database.url);
  Object.assign(target, { username: user, password: PASSWORD });
  url = target.href;
});

afterAll(async () => {
  await database.sql.unsafe(`drop owned by ${user}; drop role ${user}`);
  await database.close();
});

afterEach(async () => {
  await database.sql.unsafe('delete from shop where id > 1');
});

const reaching = (limits: Partial<QueryLimits> = {}) =>
  new GuardedDatabases({ privateHosts: ['127.0.0.1', 'localhost'], limits });
const read = (statement: string, limits?: Partial<QueryLimits>) =>
  reaching(limits).query(url, { statement, mayWrite: false, signal });
const write = (statement: string, limits?: Partial<QueryLimits>) =>
  reaching(limits).query(url, { statement, mayWrite: true, signal });
const shopped = async () => (await database.sql`select count(*)::int as n from shop`)[0]!['n'] as number;

describe('a query', () => {
  it('returns columns and rows without changing any value', async () => {
    expect(await read('select *, id from shop')).toEqual({
      columns: ['id', 'name', 'at', 'big', 'price', 'data', 'bytes', 'id'],
      rows: [[1, 'Tea', '2026-01-01 10:00:00', '9007199254740993', '1.10', { a: 1, b: '9007199254740993' }, '\\x00ff', 1]],
      command: 'SELECT',
      count: 1,
      truncated: false,
    });
  });
  it('may have no rows', async () => {
    expect(await read('select id from shop where false')).toMatchObject({ columns: ['id'], rows: [], count: 0 });
  });
  it('returns at most the maximum number of rows', async () => {
    const { rows, count, truncated } = await read('select * from generate_series(1, 100000)', { rowsMax: 250 });
    expect([rows.length, count, truncated]).toEqual([250, 250, true]);
    expect(await read('select * from generate_series(1, 250)', { rowsMax: 250 })).toMatchObject({ count: 250, truncated: false });
  });
  it('returns at most the maximum number of bytes', async () => {
    const { rows, truncated } = await read(`select repeat('x', 98) from generate_series(1, 100)`, { resultBytesMax: 1_020 });
    expect([rows.length, truncated]).toEqual([10, true]);
  });
  it('truncates long values', async () => {
    const { rows, truncated } = await read(`select repeat('x', 11), to_jsonb(repeat('y', 20))`, { valueCharactersMax: 10 });
    expect([rows, truncated]).toEqual([[['xxxxxxxxxx…', 'yyyyyyyyyy…']], true]);
  });
  it('is aborted when the server sends too many bytes', async () => {
    await expect(read(`select repeat('x', 10000000)`, { receivedBytesMax: 1_000_000 })).rejects.toThrow(
      /more than 1000000 bytes/,
    );
  });
  it('only fails if its result needs more memory than it may have', async () => {
    const patience = { deadlineMs: 100_000, statementMs: 60_000 };
    const query = read(`select ('[' || repeat('{},', 5000000) || '{}]')::json`, patience);
    await expect(query).rejects.toThrow(/cannot be read. If it is large, ask for less/);
    expect(await read('select 1')).toMatchObject({ rows: [[1]] });
  });
  it('is stopped by the server after the time limit, even if the statement changes it', async () => {
    const statement = `select set_config('statement_timeout', '0', false), pg_sleep(30)`;
    await expect(read(statement, { statementMs: 200 })).rejects.toThrow(/stopped after 0\.2 seconds/);
  });
  it('leaves no settings behind for later queries', async () => {
    await read(`select set_config('application_name', 'left behind', false)`);
    expect(await read('show application_name')).toMatchObject({ columns: ['application_name'], rows: [['verbatim']], count: 1 });
    expect((await read('explain select 1')).rows).toHaveLength(1);
  });
});

describe('a read-only query', () => {
  it.each([
    ['inserts', `insert into shop (id) values (2)`],
    ['updates', `update shop set name = 'Coffee'`],
    ['deletes', `delete from shop`],
    ['writes in a CTE', `with sold as (insert into shop (id) values (2) returning id) select * from sold`],
    ['calls a function that writes', `select sell()`],
    ['calls a function that first allows itself to', `select unlock()`],
    ['allows it in the same statement', `select set_config('transaction_read_only', 'off', false), sell()`],
    ['sets the transaction', `set transaction read write`],
    ['sets it in a block', `do $$ begin set transaction read write; insert into shop (id) values (2); end $$`],
    ['ends the transaction in a block', `do $$ begin commit; insert into shop (id) values (2); end $$`],
    ['creates a table from a query', `create table stolen as select * from shop`],
    ['selects into a table', `select * into stolen from shop`],
    ['locks rows', `select * from shop for update`],
    ['counts a sequence on', `select nextval('counter')`],
    ['explains by doing', `explain analyze insert into shop (id) values (2)`],
    ['hides it behind a second statement', `select 1; insert into shop (id) values (2)`],
    ['ends the transaction first', `commit; insert into shop (id) values (2)`],
    ['copies into a table', `copy shop (id) from program 'echo 2'`],
    ['truncates', `truncate shop`],
    ['drops', `drop table if exists shop`],
  ])('is refused if it %s', async (_, statement) => {
    await expect(read(statement)).rejects.toThrow(ForeignDatabaseFailed);
    expect((await database.sql`select id, name from shop`).map((row) => ({ ...row }))).toEqual([{ id: 1, name: 'Tea' }]);
  });

  it('gets an error that says that the tool only reads', async () => {
    await expect(read(`insert into shop (id) values (2)`)).rejects.toThrow(/read-only transaction. This tool only reads/);
  });
});

describe('a query that may write', () => {
  it('writes, and returns the number of changed rows', async () => {
    expect(await write(`insert into shop (id) values (2), (3)`)).toMatchObject({
      command: 'INSERT',
      count: 2,
      columns: [],
      rows: [],
    });
    expect(await write(`insert into shop (id) values (4) returning id`)).toMatchObject({ count: 1, rows: [[4]] });
    expect(await write(`update shop set name = 'x' where id > 10`)).toMatchObject({ command: 'UPDATE', count: 0 });
    expect(await shopped()).toBe(4);
  });
  it('writes nothing if it fails or takes too long', async () => {
    await expect(write(`insert into shop (id) values (2), (1)`)).rejects.toThrow(/duplicate key/);
    await expect(
      write(`with a as (insert into shop (id) values (2) returning id) select pg_sleep(30) from a`, { statementMs: 200 }),
    ).rejects.toThrow(/stopped/);
    expect(await shopped()).toBe(1);
  });
  it('consists of one statement', async () => {
    await expect(write(`insert into shop (id) values (2); delete from shop`)).rejects.toThrow(/multiple commands/);
    expect(await shopped()).toBe(1);
  });
});

describe('a failure', () => {
  const textOf = async (connectionString: string) =>
    reaching()
      .query(connectionString, { statement: 'select 1', mayWrite: false, signal })
      .then(
        () => '',
        (error: Error) => error.message,
      );

  it('reveals nothing of the connection string', async () => {
    const wrongPassword = new URL(url);
    wrongPassword.password = 'another-secret';
    const wrongDatabase = new URL(url);
    wrongDatabase.pathname = '/test_planted_name';
    const closed = new URL(url);
    closed.port = '1';
    const texts = await Promise.all([wrongPassword, wrongDatabase, closed].map((each) => textOf(each.href)));
    expect(texts[1]).toMatch(/refused the connection \(3D000\)/);
    expect(texts[2]).toMatch(/cannot be reached/);
    for (const text of texts) expect(text).not.toMatch(/secret|planted|reader_|127\.0\.0\.1/);
  });
  it('contains the error of the server, without the password', async () => {
    await expect(read(`select '${PASSWORD}'::int`)).rejects.toThrow(/invalid input syntax for type integer: "\*\*\*" \(22P02\)/);
  });
});

describe('a private address', () => {
  const guarded = new GuardedDatabases({ resolve: async () => [{ address: '10.0.0.8', family: 4 }] });
  it.each(['127.0.0.1', '0x7f.1', '[::1]', '169.254.169.254', 'localhost', 'db.attacker.example'])(
    'such as %s is refused',
    async (host) => {
      const connectionString = `postgres://alice:${PASSWORD}@${host}/shop`;
      await expect(guarded.check(connectionString)).rejects.toThrow(/not a public address/);
      const asked = guarded.query(connectionString, { statement: 'select 1', mayWrite: false, signal });
      await expect(asked).rejects.toThrow(/not a public address/);
    },
  );
});

describe('a server that does not speak the protocol correctly', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });
  const serving = async (onConnection: (socket: Socket) => void) => {
    const server = createServer((socket) => onConnection(socket.on('error', () => undefined)));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `postgres://alice:secret@127.0.0.1:${(server.address() as { port: number }).port}/shop?sslmode=disable`;
  };
  const asking = (connectionString: string, limits: Partial<QueryLimits>, aborted = signal) =>
    reaching(limits).query(connectionString, { statement: 'select 1', mayWrite: true, signal: aborted });
  /** Encodes a message of the protocol. */
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + body.length);
    return Buffer.concat([Buffer.from(type), length, body]);
  };

  it('is abandoned at the deadline, with an unknown outcome', async () => {
    const silent = await serving((socket) => void socket.resume());
    await expect(asking(silent, { deadlineMs: 1_500, connectMs: 60_000 })).rejects.toThrow(/within 1.5 seconds. It is unknown/);
  });
  it('cannot make the client compute passwords without end', async () => {
    const greedy = await serving((socket) => {
      socket.once('data', () => {
        socket.write(message('R', Buffer.concat([Buffer.from([0, 0, 0, 10]), Buffer.from('SCRAM-SHA-256\0\0')])));
        socket.once('data', () =>
          socket.write(message('R', Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('r=x,s=QUJD,i=2000000000')]))),
        );
      });
    });
    await expect(asking(greedy, {})).rejects.toThrow(/cannot be read/);
  });
  it('causes only a failed query if it sends invalid messages', async () => {
    const mad = await serving((socket) => {
      socket.once('data', () =>
        socket.end(Buffer.concat([message('R', Buffer.alloc(0)), message('D', Buffer.alloc(9)), Buffer.alloc(99, 255)])),
      );
    });
    await expect(asking(mad, { deadlineMs: 5_000 })).rejects.toThrow(ForeignDatabaseFailed);
  });
  it('is abandoned at once when the caller aborts', async () => {
    const controller = new AbortController();
    const silent = await serving((socket) => {
      socket.resume();
      controller.abort(new Error('stopped'));
    });
    await expect(asking(silent, {}, controller.signal)).rejects.toThrow('stopped');
  });
  it('counts towards the maximum number of concurrent queries', async () => {
    const silent = await serving((socket) => void socket.resume());
    const one = reaching({ atOnceMax: 1, deadlineMs: 1_500 });
    const ask = () => one.query(silent, { statement: 'select 1', mayWrite: false, signal });
    const first = ask();
    await expect(ask()).rejects.toThrow(/Too many databases/);
    await expect(first).rejects.toThrow(/within 1.5 seconds/);
  });
});
